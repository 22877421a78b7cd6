import type { OperationInput } from '../../lib/http/operation.ts'
import type { Reply } from '../../lib/http/reply.ts'
import { hasBody, refuseCoding } from '../../lib/http/request.ts'
import { partLength } from '../../lib/storage/content.ts'
import { decodeUtf8 } from '../../lib/storage/path.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import { fillUpload } from '../../lib/storage/uploads/continue-upload.ts'
import type { Upload } from '../../lib/storage/uploads/upload.ts'
import { openUpload, requireDirectParts } from '../../lib/storage/uploads/uploads.ts'
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
  decodeBase64,
  hasBytes,
  isWhole,
  offsetHeaders,
  readChecksum,
  readNumber,
  requireBytes,
  requireTus,
} from './resumable-upload.ts'

// In characters. The gateway accepts 10,240 for all headers together.
const longestMetadata = 4_096

const readPair = (pair: string): readonly [key: string, value: Buffer] => {
  const [, key, value = ''] = /^([!-+\--~]+)(?: +(\S*))?$/.exec(pair.trim()) ?? []
  const bytes = decodeBase64(value)
  if (key === undefined || bytes === undefined) {
    throw storageRefused(
      'Upload-Metadata must be pairs, separated by commas: each is a key, a space and a value in base64.',
    )
  }
  return [key, bytes]
}

const readMetadata = (header: string): ReadonlyMap<string, Buffer> => {
  if (header.length > longestMetadata) {
    throw storageRefused(`Upload-Metadata can have at most ${longestMetadata} characters.`)
  }
  const pairs = header.trim() === '' ? [] : header.split(',').map(readPair)
  const values = new Map(pairs)
  if (values.size < pairs.length) throw storageRefused('Each key of Upload-Metadata must be unique.')
  return values
}

// "The request MUST include one of the following headers: Upload-Length, Upload-Defer-Length: 1" ("Creation").
const readCreation = (headers: OperationInput['headers']) => {
  // Without this check, a part of a file would become the file.
  if (headers['upload-concat'] !== undefined) {
    throw storageRefused('Upload-Concat is not supported. Send the whole file as one upload.')
  }
  const length = readNumber(headers, 'Upload-Length')
  const defers = headers['upload-defer-length']
  if (defers !== undefined && defers !== '1') throw storageRefused('Upload-Defer-Length must be 1, or be left out.')
  if ((length === undefined) === (defers === undefined)) {
    throw storageRefused('Send either Upload-Length, or Upload-Defer-Length: 1.')
  }
  const metadata = headers['upload-metadata'] ?? ''
  const values = readMetadata(metadata)
  const textOf = (key: string): string | undefined => {
    const value = values.get(key)
    return value && decodeUtf8(value, 'A value in Upload-Metadata is not UTF-8. Encode it in UTF-8, then in base64.')
  }
  return {
    length: length ?? null,
    metadata,
    fileName: textOf('filename'),
    fileType: textOf('filetype'),
    version: textOf('version'),
  }
}

const conditionsIn = (headers: OperationInput['headers']) => {
  refuseTimeCondition(headers)
  return { ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] }
}

const created = ({ dataCentre, site }: OperationInput, upload: Upload): Reply => {
  const location = `${dataCentre.url}/api/v2/admin/sites/${site.id}/uploads/${upload.id}`
  return { status: 201, headers: { Location: location, ...offsetHeaders(upload) } }
}

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
  const content = countedBody(deps, input, advance, params.path)
  const first = hasBytes(headers) ? { offset: 0, declared: declaredLength(input), content, checksum } : undefined
  return created(input, await follow(fillUpload(deps, requester, opened, first), isWhole))
})

export const beginParts = operation({ params: writablePath, body: schemaOf('partsBody') }, async (input, deps) => {
  const { headers, params, body } = input
  const { name: fileName, type: fileType, version, size: length } = body
  const request = { folder: params.path, fileName, fileType, version, ...conditionsIn(headers) }
  const direct = requireDirectParts(deps.directParts)
  if (length <= partLength)
    throw storageRefused(`A file of up to ${partLength} bytes has no parts. Send it by PUT or as a resumable upload.`)
  const upload = await openUpload(deps, uploaderOf(input), { request, length, metadata: '' }, direct)
  return created(input, await trackUpload(deps, input, upload).follow(Promise.resolve(upload), isWhole))
})
