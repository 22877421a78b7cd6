import { ServiceError } from '../../lib/core/errors.ts'
import { mediaType } from '../../lib/core/headers.ts'
import type { Request } from '../../lib/http/request.ts'
import { decodeUtf8 } from '../../lib/storage/path.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import { type Checksum, checksumAlgorithms, type Upload } from '../../lib/storage/uploads/upload.ts'

const tusVersion = '1.0.0'

type RequestHeaders = Request['headers']
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

const decodeBase64 = (text: string): Buffer | undefined => {
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
export const readCreation = (headers: RequestHeaders) => {
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

export const offsetHeaders = ({ offset, isComplete, expires }: Upload): AnswerHeaders => ({
  'Upload-Offset': String(offset),
  // "This header MUST be included in every PATCH response if the upload is going to expire" ("Upload-Expires").
  ...(!isComplete && { 'Upload-Expires': new Date(expires).toUTCString() }),
})

export const stateHeaders = (upload: Upload): AnswerHeaders => ({
  ...offsetHeaders(upload),
  ...(upload.length === null ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(upload.length) }),
  ...(upload.metadata !== '' && { 'Upload-Metadata': upload.metadata }),
  // "The Server MUST prevent the client and/or proxies from caching the response" ("HEAD").
  'Cache-Control': 'no-store',
})

const uploadPath = /^\/api\/v2\/admin\/sites\/[^/]+\/uploads\/[^/]+\/?$/

// "The X-HTTP-Method-Override request header MUST be interpreted as the request's method" (tus 1.0). Applies only to
// uploads.
const methodOf = ({ method, path, headers }: Request): string => {
  const meant = headers['x-http-method-override']?.trim().toUpperCase()
  return meant && uploadPath.test(path) ? meant : method
}

const answersTus = { 'Tus-Resumable': tusVersion }

const abilitiesWith = (largest: number) => ({
  ...answersTus,
  'Tus-Version': tusVersion,
  'Tus-Extension': 'creation,creation-with-upload,creation-defer-length,expiration,termination,checksum',
  'Tus-Max-Size': String(largest),
  'Tus-Checksum-Algorithm': checksumAlgorithms.join(','),
})

/**
 * Translates a request of tus. Every answer to such a request has the headers of tus. `largest` is the size of the
 * largest upload, in bytes.
 */
export const asTusRequest = (request: Request, largest: number): Request => {
  const method = methodOf(request)
  if (method === 'OPTIONS') return { ...request, method, answerHeaders: abilitiesWith(largest) }
  if (!isTus(request.headers) && !uploadPath.test(request.path)) return request
  return { ...request, method, answerHeaders: answersTus }
}
