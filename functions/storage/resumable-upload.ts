import type { Answer } from '../../lib/contract/contract.ts'
import type { uploadState } from '../../lib/contract/storage/contract-schemas.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { mediaType } from '../../lib/core/headers.ts'
import { type OperationHandler, type OperationInput, readSwitches, type Segments } from '../../lib/http/operation.ts'
import { ok, type Reply } from '../../lib/http/reply.ts'
import { hasBody, refuseCoding } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { partLength } from '../../lib/storage/content.ts'
import { storedPath } from '../../lib/storage/path.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import { beginAppend, completeAppend, completeParts, settleUpload } from '../../lib/storage/uploads/continue-upload.ts'
import { type Checksum, checksumAlgorithms, holdingOf, type Upload } from '../../lib/storage/uploads/upload.ts'
import {
  discardUpload,
  findUpload,
  requireDirectParts,
  wantedParts,
  wholeParts,
} from '../../lib/storage/uploads/uploads.ts'
import { countedBody, declaredLength, operation, schemaOf, trackUpload, uploaderOf } from './params.ts'

export const tusVersion = '1.0.0'

type RequestHeaders = OperationInput['headers']
type AnswerHeaders = Readonly<Record<string, string>>

export const isTus = (headers: RequestHeaders): boolean => headers['tus-resumable'] !== undefined

// "If the version specified by the Client is not supported by the Server, it MUST respond with the 412" (tus 1.0, as all
// quotations here: https://tus.io/protocols/resumable-upload).
export const requireTus = (headers: RequestHeaders): void => {
  if (headers['tus-resumable'] === tusVersion) return
  throw new ServiceError('protocolVersionUnknown', {
    message: `Tus-Resumable must be ${tusVersion}: the service supports no other version of the protocol.`,
    headers: { 'Tus-Version': tusVersion },
  })
}

// "The value MUST be a non-negative integer" ("Upload-Offset", "Upload-Length").
export const readNumber = (headers: RequestHeaders, name: string): number | undefined => {
  const text = headers[name.toLowerCase()]
  if (text === undefined) return undefined
  if (/^\d{1,400}$/.test(text)) return Number(text)
  throw storageRefused(`${name} must be a whole number, 0 or more.`)
}

const bytesType = 'application/offset+octet-stream'

export const hasBytes = (headers: RequestHeaders): boolean => mediaType(headers['content-type']) === bytesType

// "All PATCH requests MUST use Content-Type: application/offset+octet-stream" ("PATCH").
export const requireBytes = (headers: RequestHeaders): void => {
  if (hasBytes(headers)) return
  throw new ServiceError('mediaTypeUnsupported', { message: `Send the bytes of an upload as ${bytesType}.` })
}

// Removes at most two signs, because a longer search would take seconds if a header had thousands of these signs.
const withoutPadding = (base64: string): string => base64.replace(/={1,2}$/, '')

export const decodeBase64 = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, 'base64')
  return withoutPadding(bytes.toString('base64')) === withoutPadding(text) ? bytes : undefined
}

// "The name of the used checksum algorithm and the Base64 encoded checksum separated by a space" ("Upload-Checksum").
export const readChecksum = (headers: RequestHeaders): Checksum | undefined => {
  const header = headers['upload-checksum']
  if (header === undefined) return undefined
  const [name, text = ''] = header.split(/ +/, 2)
  const algorithm = checksumAlgorithms.find((known) => known === name)
  const value = decodeBase64(text)
  if (algorithm && value && value.length > 0) return { algorithm, value }
  throw new ServiceError('checksumMismatch', {
    message:
      `Upload-Checksum must be one of ${checksumAlgorithms.join(', ')}, then a space and the checksum of ` +
      'the body in base64. No bytes were stored.',
  })
}

export const offsetHeaders = ({ offset, isComplete, expires }: Upload): AnswerHeaders => ({
  'Upload-Offset': String(offset),
  // "This header MUST be included in every PATCH response if the upload is going to expire" ("Upload-Expires").
  ...(!isComplete && { 'Upload-Expires': new Date(expires).toUTCString() }),
})

const stateHeaders = (upload: Upload): AnswerHeaders => ({
  ...offsetHeaders(upload),
  ...(upload.length === null ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(upload.length) }),
  ...(upload.metadata !== '' && { 'Upload-Metadata': upload.metadata }),
  // "The Server MUST prevent the client and/or proxies from caching the response" ("HEAD").
  'Cache-Control': 'no-store',
})

export const isWhole = ({ isComplete }: Upload): boolean => isComplete

const uploadOf = ({ upload = '' }: Segments): { readonly id: string } => {
  if (!/^[0-9a-f]{32}$/.test(upload)) throw new ServiceError('uploadUnknown')
  return { id: upload }
}

export const describeUpload = operation({ params: uploadOf }, async (input, deps): Promise<Reply> => {
  requireTus(input.headers)
  const requester = uploaderOf(input)
  const upload = await findUpload(deps, requester, input.params.id)
  if (upload.target.isDirect) throw new ServiceError('uploadUnknown')
  return { status: 200, headers: stateHeaders(await settleUpload(deps, requester, upload)) }
})

const appendTus = operation({ params: uploadOf }, async (input, deps): Promise<Reply> => {
  const { headers } = input
  requireTus(headers)
  refuseCoding(input, 'storageRefused')
  requireBytes(headers)
  const offset = readNumber(headers, 'Upload-Offset')
  if (offset === undefined) throw storageRefused('The request lacks Upload-Offset. Ask for the offset with HEAD.')
  const length = readNumber(headers, 'Upload-Length')
  const addition = { offset, length, checksum: readChecksum(headers), declared: declaredLength(input) }
  const requester = uploaderOf(input)
  const begun = await beginAppend(deps, requester, input.params.id, addition)
  const progress = trackUpload(deps, input, begun.upload, true)
  const content = countedBody(deps, input, progress.advance, storedPath(begun.upload.target.path))
  const uploader = { ...requester, progress }
  const grown = await progress.follow(completeAppend(deps, uploader, begun, { ...addition, content }), isWhole)
  return { status: 204, headers: offsetHeaders(grown) }
})

const completeDirect = operation({ params: uploadOf }, async (input, deps): Promise<Reply> => {
  const requester = uploaderOf(input)
  const upload = await findUpload(deps, requester, input.params.id)
  if (!upload.target.isDirect) requireTus(input.headers)
  if (hasBody(input)) throw storageRefused('Send bytes to the addresses of the parts, and this PATCH without bytes.')
  const progress = trackUpload(deps, input, upload, true)
  const placed = await progress.follow(completeParts(deps, { ...requester, progress }, upload), isWhole)
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

/** Returns the state of an upload, or addresses for some of its parts. */
export const readUpload = operation(
  { params: uploadOf, query: (query) => readSwitches(query, ['first', 'digests'], schemaOf('partsQuery')) },
  async (input, deps) => {
    const { params, query } = input
    const requester = uploaderOf(input)
    const upload = await settleUpload(deps, requester, await findUpload(deps, requester, params.id))
    const { id, target, length, isComplete, holding } = upload
    const state = { size: length, inParts: target.isDirect === true, complete: isComplete }
    if (query.digests === undefined || isComplete) {
      const parts = target.isDirect && holding ? await deps.directParts?.stored({ id, target, holding }) : undefined
      const stored = wholeParts(parts ?? [], upload).map(({ number }) => number)
      return ok<Answer<typeof uploadState>>({ ...state, stored, addresses: [] })
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
