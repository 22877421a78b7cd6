import { ServiceError } from '../../lib/core/errors.ts'
import type { OperationInput, Segments } from '../../lib/http/operation.ts'
import type { Reply } from '../../lib/http/reply.ts'
import type { Request } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { storedPath } from '../../lib/storage/path.ts'
import { beginAppend, completeAppend, fillUpload } from '../../lib/storage/uploads/append.ts'
import { settleUpload } from '../../lib/storage/uploads/complete-upload.ts'
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
import type { Upload } from '../../lib/storage/uploads/upload.ts'
import { discardUpload, findUpload, openUpload } from '../../lib/storage/uploads/uploads.ts'
import { operation, refuseCoding, refuseTimeCondition, uploaderOf, writablePath } from './params.ts'
import { declaredLength, openBody } from './upload.ts'

export const hasBody = ({ headers }: OperationInput): boolean =>
  headers['transfer-encoding'] !== undefined || (declaredLength({ headers }) ?? 0) > 0

export const conditionsIn = (headers: OperationInput['headers']) => {
  refuseTimeCondition(headers)
  return { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] }
}

export const locationOf = ({ dataCentre, site }: OperationInput, { id }: Upload): string =>
  `${dataCentre.url}/api/v2/admin/sites/${site.id}/uploads/${id}`

export const createUpload = operation({ params: writablePath }, async (input, deps): Promise<Reply> => {
  const { headers, params } = input
  requireTus(headers)
  const { length, metadata, ...file } = readCreation(headers)
  const checksum = readChecksum(headers)
  if (hasBody(input)) requireBytes(headers)
  refuseCoding(input)
  const request = { folder: params.path, ...file, ...conditionsIn(headers) }
  const requester = uploaderOf(input)
  const opened = await openUpload(deps, requester, { request, length, metadata })
  const { body, follow } = openBody(deps, input, opened)
  const content = body(params.path)
  const first = hasBytes(headers) ? { offset: 0, declared: declaredLength(input), content, checksum } : undefined
  const upload = await follow(fillUpload(deps, requester, opened, first), isWhole)
  return { status: 201, headers: { Location: locationOf(input, upload), ...offsetHeaders(upload) } }
})

export const isWhole = ({ isComplete }: Upload): boolean => isComplete

export const uploadOf = ({ upload = '' }: Segments): { readonly id: string } => {
  if (!/^[0-9a-f]{32}$/.test(upload)) throw new ServiceError('uploadUnknown')
  return { id: upload }
}

/**
 * A request about an upload must use the protocol of the upload, tus or parts. Errors: uploadUnknown,
 * protocolVersionUnknown.
 */
export const findRequestedUpload = async (
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

export const appendToUpload = operation({ params: uploadOf }, async (input, deps): Promise<Reply> => {
  requireTus(input.headers)
  refuseCoding(input)
  const addition = { ...readAppend(input.headers), declared: declaredLength(input) }
  const requester = uploaderOf(input)
  const begun = await beginAppend(deps, requester, input.params.id, addition)
  const { body, follow } = openBody(deps, input, begun.upload, true)
  const content = body(storedPath(begun.upload.target.path))
  const grown = await follow(completeAppend(deps, requester, begun, { ...addition, content }), isWhole)
  return { status: 204, headers: offsetHeaders(grown) }
})

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
