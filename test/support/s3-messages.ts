import { Readable } from 'node:stream'

/** A request in the form of the SDK's transport, for one bucket in path style. */
export interface S3Request {
  readonly method: string
  readonly path: string
  readonly query?: Readonly<Record<string, string | string[] | null>>
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** A refusal of S3. If `before` throws a refusal, the bucket answers with this refusal. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}
export const preconditionFailed = () => new Refusal(412, 'PreconditionFailed')
export const noSuchKey = () => new Refusal(404, 'NoSuchKey')

export const answer = (statusCode: number, headers: Record<string, string> = {}, body: Buffer | string = '') => ({
  statusCode,
  headers,
  body: Readable.from(typeof body === 'string' ? Buffer.from(body) : body),
})
export type S3Answer = ReturnType<typeof answer>

export const xmlAnswer = (root: string, text: string, headers: Record<string, string> = {}) =>
  answer(
    200,
    { 'content-type': 'application/xml', ...headers },
    `<?xml version="1.0" encoding="UTF-8"?><${root}>${text}</${root}>`,
  )

export const bytesIn = ({ body }: S3Request): Buffer => {
  if (body === undefined || body === null) return Buffer.alloc(0)
  if (typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body)
  throw new Error('The S3 of tests accepts only complete bodies')
}

/** A body with characters that XML forbids is not XML. */
export const xmlIn = (request: S3Request): string => {
  const xml = bytesIn(request).toString()
  if (/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(xml)) throw new Refusal(400, 'MalformedXML')
  return xml
}

export const rangeIn = (header: string | undefined, size: number) => {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (from === undefined || to === undefined) return undefined
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  if (first >= size || (from === '' && Number(to) === 0)) throw new Refusal(416, 'InvalidRange')
  return { first, last: from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1) }
}
export const metadataIn = ({ headers }: S3Request) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-amz-meta-')))
export const typeIn = ({ headers }: S3Request) => headers['content-type'] ?? 'binary/octet-stream'

export const unquote = (tag: string) => tag.replaceAll('"', '')

/** Compares `If-Match` with one tag, or `If-None-Match: *`, of a change with the current tag. */
export const requireTag = ({ headers }: S3Request, etag: string | undefined): void => {
  const match = headers['if-match']
  if (match !== undefined && etag === undefined) throw noSuchKey()
  if (match !== undefined && unquote(match) !== etag) throw preconditionFailed()
  const noneMatch = headers['if-none-match']
  if (noneMatch !== undefined && noneMatch !== '*') throw new Refusal(501, 'NotImplemented')
  if (noneMatch !== undefined && etag !== undefined) throw preconditionFailed()
}
