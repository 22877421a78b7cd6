import type { Answer } from '../../lib/contract/contract.ts'
import type { uploadState } from '../../lib/contract/storage/contract-schemas.ts'
import { readSwitches } from '../../lib/http/operation.ts'
import { ok, type Reply } from '../../lib/http/reply.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { partLength } from '../../lib/storage/content.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import { completeParts, settleUpload } from '../../lib/storage/uploads/complete-upload.ts'
import { offsetHeaders } from '../../lib/storage/uploads/tus.ts'
import { holdingOf, type Upload } from '../../lib/storage/uploads/upload.ts'
import {
  findUpload,
  openUpload,
  requireDirectParts,
  requireParts,
  wantedParts,
  wholeParts,
} from '../../lib/storage/uploads/uploads.ts'
import { operation, schemaOf, uploaderOf, writablePath } from './params.ts'
import { conditionsIn, findRequestedUpload, hasBody, isWhole, locationOf, uploadOf } from './resumable-upload.ts'
import { openBody } from './upload.ts'

export const beginParts = operation({ params: writablePath, body: schemaOf('partsBody') }, async (input, deps) => {
  const { headers, params, body } = input
  const { name: fileName, type: fileType, version, size: length } = body
  const request = { folder: params.path, fileName, fileType, version, ...conditionsIn(headers) }
  const direct = requireDirectParts(deps.directParts)
  requireParts(length)
  const upload = await openUpload(deps, uploaderOf(input), { request, length, metadata: '' }, direct)
  await openBody(deps, input, upload).follow(Promise.resolve(upload), isWhole)
  return { status: 201, headers: { Location: locationOf(input, upload), ...offsetHeaders(upload) } }
})

const storedParts = async ({ directParts }: StorageDeps, upload: Upload): Promise<readonly number[]> => {
  const { id, target, holding } = upload
  if (!directParts || !target.isDirect || !holding) return []
  return wholeParts(await directParts.stored({ id, target, holding }), upload).map(({ number }) => number)
}

/** Returns the state of an upload, or addresses for some of its parts. */
export const readUpload = operation(
  { params: uploadOf, query: (query) => readSwitches(query, ['first', 'digests'], schemaOf('partsQuery')) },
  async (input, deps) => {
    const { params, query } = input
    const requester = uploaderOf(input)
    const upload = await settleUpload(deps, requester, await findUpload(deps, requester, params.id))
    const { id, target, length, isComplete } = upload
    const state = { size: length, inParts: target.isDirect === true, complete: isComplete }
    if (query.digests === undefined || isComplete) {
      return ok<Answer<typeof uploadState>>({ ...state, stored: await storedParts(deps, upload), addresses: [] })
    }
    const direct = requireDirectParts(target.isDirect ? deps.directParts : undefined)
    const first = query.first ?? 1
    const parts = wantedParts(upload, first, query.digests.split(','))
    const { advance, follow } = openBody(deps, input, { id, length }, true)
    advance((first - 1) * partLength)
    const addresses = await follow(direct.addressesOf({ id, target, holding: holdingOf(upload) }, parts), () => false)
    return ok<Answer<typeof uploadState>>({ ...state, stored: [], addresses })
  },
)

/** Answers a PATCH without tus. */
export const completeUpload = operation({ params: uploadOf }, async (input, deps): Promise<Reply> => {
  const upload = await findRequestedUpload(deps, input)
  if (hasBody(input)) throw storageRefused('Send bytes to the addresses of the parts, and this PATCH without bytes.')
  const { follow } = openBody(deps, input, upload, true)
  const placed = await follow(completeParts(deps, uploaderOf(input), upload), isWhole)
  return { status: 204, headers: offsetHeaders(placed) }
})
