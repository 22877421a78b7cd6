import type { StorageDeps } from '../../lib/deps.ts'
import { operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import { createFolder } from '../../lib/storage/create-folder.ts'
import type { Answer } from '../answer.ts'
import type { success } from './answers.doc.ts'
import { pathOf } from './params.ts'

/** PUT with `?type=folder`: creates a folder, which may be there already. 200 with the status. */
export const putFolder = (deps: StorageDeps) =>
  operation({ params: pathOf }, async ({ site, params, author }) => {
    await createFolder(deps, site.id, params.path, author)
    return ok<Answer<typeof success>>({ value: { status: 'success' } })
  })
