import type { StorageDeps } from '../../lib/deps.ts'
import { operation } from '../../lib/http/operation.ts'
import type { Request } from '../../lib/http/request.ts'
import { putFile } from '../../lib/storage/put-file.ts'
import { fileTooLarge } from '../../lib/storage/stage-file.ts'
import { pathOf, queryValue, readSwitches } from './params.ts'
import { declaredLength, receiveUpload } from './receive-upload.ts'

const mediaType = /^\s*([!#$&^_.+0-9A-Za-z-]{1,64}\/[!#$&^_.+0-9A-Za-z-]{1,64})\s*(?:;|$)/

/** `draft`, `draft-publish` or nothing. Errors: storageRefused. */
const asDraft = async (query: Request['query']): Promise<boolean> => {
  const { version } = await readSwitches(
    { version: queryValue(query, 'version') },
    async () => (await import('./switches.ts')).putSwitches,
  )
  return version === 'draft'
}

/** PUT of a file: the body is its content (decisions.md, section 5, "Raw upload"). 200 with the status. */
export const putFileContent = (deps: StorageDeps) =>
  operation({ params: pathOf, query: asDraft }, async (input) => {
    if ((declaredLength(input) ?? 0) > deps.largestFile) throw fileTooLarge(deps.largestFile)
    const contentType = mediaType.exec(input.headers['content-type'] ?? '')?.[1]?.toLowerCase()
    return receiveUpload(deps, input, (content) =>
      putFile(deps, input.site.id, input.params.path, input.query, { contentType, content }, input.author),
    )
  })
