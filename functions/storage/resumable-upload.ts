import type { Answer } from '../../lib/contract/contract.ts'
import type { uploadState } from '../../lib/contract/storage/contract-schemas.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { settleAll } from '../../lib/core/in-parallel.ts'
import { type OperationHandler, type OperationInput, readSwitches, type Segments } from '../../lib/http/operation.ts'
import { ok, type Reply } from '../../lib/http/reply.ts'
import { hasBody, refuseCoding } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { partLength } from '../../lib/storage/content.ts'
import { storedPath } from '../../lib/storage/path.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import {
  beginAppend,
  beginCompletion,
  completeAppend,
  completeParts,
  fillUpload,
  settleUpload,
  withdrawUpload,
} from '../../lib/storage/uploads/continue-upload.ts'
import { holdingOf, isWaiting, type Upload } from '../../lib/storage/uploads/upload.ts'
import {
  findUpload,
  PartMissing,
  prepareUpload,
  recordUpload,
  requireDirectParts,
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
import {
  hasBytes,
  isTus,
  offsetHeaders,
  readChecksum,
  readCreation,
  readNumber,
  requireBytes,
  requireTus,
  stateHeaders,
} from './tus.ts'

const isWhole = ({ isComplete }: Upload): boolean => isComplete

const conditionsIn = (headers: OperationInput['headers']) => {
  refuseTimeCondition(headers)
  return { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] }
}

const created = ({ dataCentre, site }: OperationInput, upload: Upload): Reply => {
  const location = `${dataCentre.url}/api/v2/admin/sites/${site.id}/uploads/${upload.id}`
  return { status: 201, headers: { Location: location, ...offsetHeaders(upload) } }
}

const stateOf = (
  { length, target, isComplete }: Upload,
  shown: Partial<Answer<typeof uploadState>>,
): Answer<typeof uploadState> => ({
  size: length,
  inParts: target.isDirect === true,
  complete: isComplete,
  stored: [],
  addresses: [],
  ...shown,
})

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
  const opened = await recordUpload(deps, await prepareUpload(deps, requester, { request, length, metadata }))
  const progress = trackUpload(deps, input, opened)
  const content = countedBody(deps, input, progress.advance, params.path)
  const first = hasBytes(headers) ? { offset: 0, declared: declaredLength(input), content, checksum } : undefined
  return created(input, await progress.follow(fillUpload(deps, { ...requester, progress }, opened, first), isWhole))
})

export const beginParts = operation({ params: writablePath, body: schemaOf('partsBody') }, async (input, deps) => {
  const { headers, params, body } = input
  const { name: fileName, type: fileType, version, size: length, digests = [] } = body
  const request = { folder: params.path, fileName, fileType, version, ...conditionsIn(headers) }
  const direct = requireDirectParts(deps.directParts)
  if (length <= partLength)
    throw storageRefused(`A file of up to ${partLength} bytes has no parts. Send it by PUT or as a resumable upload.`)
  const parts = wantedParts({ length }, 1, digests)
  const prepared = await prepareUpload(deps, uploaderOf(input), { request, length, metadata: '' }, direct)
  const { id, target, holding } = prepared.upload
  const { follow } = trackUpload(deps, input, prepared.upload, true)
  const signing = direct.addressesOf({ id, target, holding: holdingOf({ id, holding }) }, parts)
  const [upload, addresses] = await follow(settleAll([recordUpload(deps, prepared), signing]), () => false)
  return { ...created(input, upload), document: { value: stateOf(upload, { addresses }) } }
})

const uploadOf = ({ upload = '' }: Segments): { readonly id: string } => {
  if (!/^[0-9a-f]{32}$/.test(upload)) throw new ServiceError('uploadUnknown')
  return { id: upload }
}

const settle = async (deps: StorageDeps, input: OperationInput, upload: Upload): Promise<Upload> => {
  if (!isWaiting(upload)) return upload
  const progress = trackUpload(deps, input, upload, true)
  return await progress.follow(settleUpload(deps, { ...uploaderOf(input), progress }, upload), isWhole)
}

export const describeUpload = operation({ params: uploadOf }, async (input, deps): Promise<Reply> => {
  requireTus(input.headers)
  const upload = await findUpload(deps, uploaderOf(input), input.params.id)
  if (upload.target.isDirect) throw new ServiceError('uploadUnknown')
  return { status: 200, headers: stateHeaders(await settle(deps, input, upload)) }
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
  const { id } = input.params
  const isEmpty = !hasBody(input)
  const begun = isEmpty ? await beginCompletion(deps, requester, id) : { upload: await findUpload(deps, requester, id) }
  if (!begun.upload.target.isDirect) requireTus(input.headers)
  if (!isEmpty) throw storageRefused('Send bytes to the addresses of the parts, and this PATCH without bytes.')
  const progress = trackUpload(deps, input, begun.upload, true)
  const placed = await progress.follow(completeParts(deps, { ...requester, progress }, begun), isWhole)
  return { status: 204, headers: offsetHeaders(placed) }
})

export const appendToUpload: OperationHandler<StorageDeps> = (request, deps) =>
  (isTus(request.headers) ? appendTus : completeDirect)(request, deps)

export const cancelUpload = operation({ params: uploadOf }, async (input, deps): Promise<Reply> => {
  if (isTus(input.headers)) requireTus(input.headers)
  const requester = uploaderOf(input)
  const upload = await findUpload(deps, requester, input.params.id)
  if (!upload.target.isDirect) requireTus(input.headers)
  await withdrawUpload(deps, requester, upload)
  return { status: 204 }
})

/** Returns the state of an upload, or addresses for some of its parts. */
export const readUpload = operation(
  { params: uploadOf, query: (query) => readSwitches(query, ['first', 'digests'], schemaOf('partsQuery')) },
  async (input, deps) => {
    const { params, query } = input
    const requester = uploaderOf(input)
    const find = () => findUpload(deps, requester, params.id)
    const upload = await settle(deps, input, await find()).catch((error: unknown) => {
      if (error instanceof PartMissing) return find()
      throw error
    })
    const { id, target, length, isComplete, holding } = upload
    if (query.digests === undefined || isComplete) {
      const parts = target.isDirect && holding ? await deps.directParts?.stored({ id, target, holding }) : undefined
      const stored = wholeParts(parts ?? [], upload).map(({ number }) => number)
      return ok(stateOf(upload, { stored }))
    }
    const direct = requireDirectParts(target.isDirect ? deps.directParts : undefined)
    const first = query.first ?? 1
    const parts = wantedParts(upload, first, query.digests.split(','))
    const { advance, follow } = trackUpload(deps, input, { id, length }, true)
    advance((first - 1) * partLength)
    const addresses = await follow(direct.addressesOf({ id, target, holding: holdingOf(upload) }, parts), () => false)
    return ok(stateOf(upload, { addresses }))
  },
)
