import * as z from 'zod/mini'
import type { StorageDeps } from '../../lib/deps.ts'
import { ServiceError } from '../../lib/errors.ts'
import type { Exchange } from '../../lib/http/exchange.ts'
import { operation, validate } from '../../lib/http/operation.ts'
import { putFile } from '../../lib/storage/put-file.ts'
import { pathOf, queryValue } from './params.ts'
import { declaredLength, receiveUpload } from './receive-upload.ts'
import { putVersion } from './switches.ts'

const mediaType = /^\s*([!#$&^_.+0-9A-Za-z-]{1,64}\/[!#$&^_.+0-9A-Za-z-]{1,64})\s*(?:;|$)/

const switches = z.object({ version: z.optional(putVersion) })

/** `draft`, `draft-publish` or nothing. Errors: storageRefused. */
const asDraft = (query: Exchange['query']): boolean =>
  validate(switches, { version: queryValue(query, 'version') }, 'storageRefused').version === 'draft'

/** PUT of a file: the body is its content (decisions.md, section 5, "Raw upload"). 200 with the status. */
export const putFileContent = (deps: StorageDeps) =>
  operation({ params: pathOf, query: asDraft }, async (input) => {
    if ((declaredLength(input) ?? 0) > deps.largestFile) throw new ServiceError('fileTooLarge')
    const contentType = mediaType.exec(input.headers['content-type'] ?? '')?.[1]?.toLowerCase()
    return receiveUpload(deps, input, (content) =>
      putFile(deps, input.site.id, input.params.path, input.query, { contentType, content }),
    )
  })
