import type { StorageDeps } from '../../lib/deps.ts'
import { operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import { rename } from '../../lib/storage/rename.ts'
import type { Answer } from '../contract.ts'
import type { success } from './contract.ts'
import { pathOf } from './params.ts'

/** PUT with `?meta` and `{"name": …}`: gives a file or folder another name. 200 with the status; 404/104001 when it is not there. */
export const renamePath = (deps: StorageDeps) =>
  operation(
    {
      params: pathOf,
      body: { schema: async () => (await import('./new-name-body.ts')).newNameBody, malformed: 'storageRefused' },
    },
    async ({ site, params, body, remainingTime, author }) => {
      await rename(deps, site.id, params.path, body.name, remainingTime(), author)
      return ok<Answer<typeof success>>({ value: { status: 'success' } })
    },
  )
