import type { Answer } from '../../lib/contract/contract.ts'
import type { uploadState } from '../../lib/contract/storage/contract-schemas.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { type OperationHandler, type OperationInput, readSwitches, type Segments } from '../../lib/http/operation.ts'
import { ok, type Reply } from '../../lib/http/reply.ts'
import { hasBody, type Request, refuseCoding } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { partLength } from '../../lib/storage/content.ts'
import { storedPath } from '../../lib/storage/path.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import { beginAppend, completeAppend, fillUpload } from '../../lib/storage/uploads/append.ts'
import { completeParts, settleUpload } from '../../lib/storage/uploads/complete-upload.ts'
import {
  hasBytes,
  isTus,
  offsetHeaders,
  readAppend,
  readChecksum,
  readCreation,
  requireBytes,
  requireTus,
  stateHeaders,
  tusAbilities,
  tusAnswer,
} from '../../lib/storage/uploads/tus.ts'
import { holdingOf, type Upload } from '../../lib/storage/uploads/upload.ts'
import {
  discardUpload,
  findUpload,
  openUpload,
  requireDirectParts,
  requireParts,
  wantedParts,
  wholeParts,
} from '../../lib/storage/uploads/uploads.ts'
import {
  countedBody,
  declaredLength,
  operation,
  refusePart,
  refuseTimeCondition,
  schemaOf,
  trackUpload,
  uploaderOf,
  writablePath,
} from './params.ts'

const conditionsIn = (headers: OperationInput['headers']) => {
  refuseTimeCondition(headers)
  return { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] }
}

const locationOf = ({ dataCentre, site }: OperationInput, { id }: Upload): string =>
  `${dataCentre.url}/api/v2/admin/sites/${site.id}/uploads/${id}`

export const createUpload = operation({ params: writablePath }, async (input, deps): Promise<Reply> => {
  const { headers, params } = input
  requireTus(headers)
  const { length, metadata, ...file } = readCreation(headers)
  const checksum = readChecksum(headers)
  if (hasBody(input)) requireBytes(headers)
  refusePart(input)
  refuseCoding(input, 'storageRefused')
  const request = { folder: params.path, ...file, ...conditionsIn(headers) }
  const requester = uploaderOf(input)
  const opened = await openUpload(deps, requester, { request, length, metadata })
  const { advance, follow } = trackUpload(deps, input, opened)
  const content = countedBody(input, advance, params.path)
  const first = hasBytes(headers) ? { offset: 0, declared: declaredLength(input), content, checksum } : undefined
  const upload = await follow(fillUpload(deps, requester, opened, first), isWhole)
  return { status: 201, headers: { Location: locationOf(input, upload), ...offsetHeaders(upload) } }
})

const isWhole = ({ isComplete }: Upload): boolean => isComplete

const uploadOf = ({ upload = '' }: Segments): { readonly id: string } => {
  if (!/^[0-9a-f]{32}$/.test(upload)) throw new ServiceError('uploadUnknown')
  return { id: upload }
}

/**
 * A request about an upload must use the protocol of the upload, tus or parts. Errors: uploadUnknown,
 * protocolVersionUnknown.
 */
const findRequestedUpload = async (
  deps: StorageDeps,
  input: OperationInput<{ readonly id: string }>,
): Promise<Upload> => {
  const upload = await findUpload(deps, uploaderOf(input), input.params.id)
  if (!upload.target.isDirect) requireTus(input.headers)
  else if (isTus(input.headers)) throw new ServiceError('uploadUnknown')
  return upload
}

export const describeUpload = operation({ params: uploadOf }, async (input, deps): Promise<Reply> => {
  requireTus(input.headers)
  const upload = await findRequestedUpload(deps, input)
  return { status: 200, headers: stateHeaders(await settleUpload(deps, uploaderOf(input), upload)) }
})

const appendTus = operation({ params: uploadOf }, async (input, deps): Promise<Reply> => {
  requireTus(input.headers)
  refuseCoding(input, 'storageRefused')
  const addition = { ...readAppend(input.headers), declared: declaredLength(input) }
  const requester = uploaderOf(input)
  const begun = await beginAppend(deps, requester, input.params.id, addition)
  const { advance, follow } = trackUpload(deps, input, begun.upload, true)
  const content = countedBody(input, advance, storedPath(begun.upload.target.path))
  const grown = await follow(completeAppend(deps, requester, begun, { ...addition, content }), isWhole)
  return { status: 204, headers: offsetHeaders(grown) }
})

const completeDirect = operation({ params: uploadOf }, async (input, deps): Promise<Reply> => {
  const upload = await findRequestedUpload(deps, input)
  if (hasBody(input)) throw storageRefused('Send bytes to the addresses of the parts, and this PATCH without bytes.')
  const { follow } = trackUpload(deps, input, upload, true)
  const placed = await follow(completeParts(deps, uploaderOf(input), upload), isWhole)
  return { status: 204, headers: offsetHeaders(placed) }
})

export const appendToUpload: OperationHandler<StorageDeps> = (request, deps) =>
  (isTus(request.headers) ? appendTus : completeDirect)(request, deps)

export const cancelUpload = operation({ params: uploadOf }, async (input, deps): Promise<Reply> => {
  if (isTus(input.headers)) requireTus(input.headers)
  const upload = await findUpload(deps, uploaderOf(input), input.params.id)
  if (!upload.target.isDirect) requireTus(input.headers)
  await discardUpload(deps, upload)
  return { status: 204 }
})

const uploadPath = /^\/api\/v2\/admin\/sites\/[^/]+\/uploads\/[^/]+\/?$/

// "The X-HTTP-Method-Override request header MUST be interpreted as the request's method" (tus 1.0). Applies only to
// uploads.
const methodOf = ({ method, path, headers }: Request): string => {
  const meant = headers['x-http-method-override']?.trim().toUpperCase()
  return meant && uploadPath.test(path) ? meant : method
}

/**
 * Translates a request of tus. Every answer to such a request has the headers of tus. `largest` is the size of the
 * largest upload, in bytes.
 */
export const asTusRequest = (request: Request, largest: number): Request => {
  const method = methodOf(request)
  if (method === 'OPTIONS') return { ...request, method, answerHeaders: tusAbilities(largest) }
  if (!isTus(request.headers) && !uploadPath.test(request.path)) return request
  return { ...request, method, answerHeaders: tusAnswer }
}

export const beginParts = operation({ params: writablePath, body: schemaOf('partsBody') }, async (input, deps) => {
  const { headers, params, body } = input
  const { name: fileName, type: fileType, version, size: length } = body
  const request = { folder: params.path, fileName, fileType, version, ...conditionsIn(headers) }
  const direct = requireDirectParts(deps.directParts)
  requireParts(length)
  const upload = await openUpload(deps, uploaderOf(input), { request, length, metadata: '' }, direct)
  await trackUpload(deps, input, upload).follow(Promise.resolve(upload), isWhole)
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
    const { advance, follow } = trackUpload(deps, input, { id, length }, true)
    advance((first - 1) * partLength)
    const addresses = await follow(direct.addressesOf({ id, target, holding: holdingOf(upload) }, parts), () => false)
    return ok<Answer<typeof uploadState>>({ ...state, stored: [], addresses })
  },
)
