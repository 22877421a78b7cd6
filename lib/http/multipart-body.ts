import { mediaType } from '../core/headers.ts'

export class MultipartError extends Error {
  override readonly name = 'MultipartError'
}

// Replaces a missing or malformed type of a part, which busboy would report as `text/plain`.
export const undeclared = 'application/x-undeclared'

const longestHeader = 16 * 1024
const longestBoundary = 200
const mostParts = 1_000
const mostFields = 32
const lineEnd = Buffer.from('\r\n')
const headerEnd = Buffer.from('\r\n\r\n')
const dashes = Buffer.from('--')

const parameter = /(;[ \t]*)([^\s"=;]+)=("(?:[^"\\]|\\.)*"|[^";]*)[ \t]*/gy

const refuseTwice = (names: readonly string[]): void => {
  if (new Set(names).size < names.length) throw new MultipartError('the header of a part repeats a name')
}

// `UTF-8''na%C3%AFve` (RFC 8187) is declared as latin1, so that busboy returns its bytes, as for an ordinary name. A
// name in another encoding becomes invalid UTF-8, which is refused later.
const asBytes = (value: string): string => {
  const [label] = /^[^']*'/.exec(value) ?? []
  if (label === undefined) return value
  return /^utf-8'$/i.test(label) ? `latin1'${value.slice(label.length)}` : "latin1''%FF"
}

const mendDisposition = (field: string): string => {
  // curl writes `attachment` when the user sets a Content-Type other than multipart/form-data. Some clients put a
  // semicolon after the last parameter.
  const line = field
    .replaceAll('\r\n', '')
    .replace(/^(content-disposition:[ \t]*)attachment(?=[ \t]*;)/i, '$1form-data')
    .replace(/;[ \t]*$/, '')
  const first = line.indexOf(';')
  if (first < 0) return line
  const names: string[] = []
  const parameters = line.slice(first).replace(parameter, (whole, before: string, name: string, value: string) => {
    names.push(name.toLowerCase())
    if (name.toLowerCase() !== 'filename*') return whole
    return /^utf-8'[^']*'$/i.test(value) ? '' : `${before}${name}=${asBytes(value)}`
  })
  refuseTwice(names)
  return line.slice(0, first) + parameters
}

// S-135. The values 7bit, 8bit and binary do not change the bytes.
const encoding = /^content-transfer-encoding:[ \t]*(base64|quoted-printable)\b/i

const isType = /^content-type:/i
const plainType = (field = ''): string => `Content-Type: ${mediaType(field.replace(isType, '')) ?? undeclared}`

const mendHeader = (header: string): string => {
  const fields = header.split(/\r\n(?![ \t])/)
  if (fields.length > mostFields) throw new MultipartError('a part has too many header fields')
  refuseTwice(fields.map((field) => field.slice(0, field.indexOf(':')).toLowerCase()))
  const [, encoded] = fields.map((field) => encoding.exec(field)).find((found) => found !== null) ?? []
  if (encoded !== undefined) throw new MultipartError(`a part has the Content-Transfer-Encoding ${encoded}`)
  const mended = fields.flatMap((field) => {
    if (/^content-disposition:/i.test(field)) return mendDisposition(field)
    // If a part has two types, busboy uses the first type, but checks only the second.
    return isType.test(field) ? [plainType(field), field] : field
  })
  if (!fields.some((field) => isType.test(field))) mended.push(plainType())
  return mended.join('\r\n')
}

interface Window {
  readonly source: AsyncIterator<Uint8Array>
  bytes: Buffer
}

const grow = async (window: Window): Promise<boolean> => {
  const { done, value } = await window.source.next()
  if (done) return false
  const chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  window.bytes = window.bytes.length === 0 ? chunk : Buffer.concat([window.bytes, chunk])
  return true
}

const take = (window: Window, length: number): Buffer => {
  const taken = window.bytes.subarray(0, length)
  window.bytes = window.bytes.subarray(length)
  return taken
}

const startsWith = async (window: Window, mark: Buffer): Promise<boolean> => {
  while (window.bytes.length < mark.length && (await grow(window)));
  return window.bytes.subarray(0, mark.length).equals(mark)
}

const find = async (window: Window, mark: Buffer, what: string, from = 0): Promise<number> => {
  for (;;) {
    const at = window.bytes.indexOf(mark, from)
    if (at > longestHeader || (at < 0 && window.bytes.length > longestHeader + mark.length)) {
      throw new MultipartError(`${what} is too long`)
    }
    if (at >= 0 || !(await grow(window))) return at
  }
}

const sniffBoundary = async (window: Window): Promise<string> => {
  // Some clients also send a line end before the first boundary.
  const start = (await startsWith(window, headerEnd)) ? headerEnd.length : lineEnd.length
  const end = await find(window, lineEnd, 'the first line', start)
  const line = window.bytes.toString('latin1', start, Math.max(end, start))
  if (!line.startsWith('--')) throw new MultipartError('it does not begin with a boundary')
  return line.slice(dashes.length)
}

async function* throughDelimiter(window: Window, delimiter: Buffer): AsyncGenerator<Buffer, boolean> {
  for (;;) {
    const at = window.bytes.indexOf(delimiter)
    if (at >= 0) {
      const last = take(window, at + delimiter.length).subarray(0, at)
      if (last.length > 0) yield last
      return true
    }
    // Keeps the end of the piece if a delimiter may begin there. Most pieces have no such end, so nothing is copied.
    const start = window.bytes.indexOf('\r', Math.max(window.bytes.length - delimiter.length + 1, 0))
    const safe = start < 0 ? window.bytes.length : start
    if (safe > 0) yield take(window, safe)
    if (!(await grow(window))) return false
  }
}

// Does not consume the line end of the blank line, because it may belong to the next delimiter.
const takeHeader = async (window: Window): Promise<string | undefined> => {
  const end = await find(window, headerEnd, 'the header of a part')
  if (end < 0) return undefined
  const header = take(window, end + lineEnd.length).toString('latin1', 0, end)
  if (header === '') throw new MultipartError('a part has no header')
  if (!header.startsWith('\r\n')) throw new MultipartError('the line of a boundary contains more than the boundary')
  return mendHeader(header.slice(lineEnd.length))
}

async function* mendBody(window: Window, boundary: string): AsyncGenerator<Buffer, number> {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  const first = await find(window, delimiter, 'the preamble')
  if (first < 0) return 0
  take(window, first + delimiter.length)
  for (let count = 0; ; count++) {
    if (await startsWith(window, dashes)) {
      yield Buffer.concat([delimiter, dashes])
      // The epilogue is read to its end and ignored. This detects a connection that breaks in the epilogue.
      do take(window, window.bytes.length)
      while (await grow(window))
      return count
    }
    if (count === mostParts) throw new MultipartError(`it has more than ${mostParts} parts`)
    const header = await takeHeader(window)
    if (header === undefined) return count
    yield Buffer.from(`\r\n--${boundary}\r\n${header}\r\n\r\n`, 'latin1')
    // A part without content may share its blank line with the delimiter (RFC 2046, section 5.1.1).
    if (!(await startsWith(window, delimiter))) take(window, lineEnd.length)
    if (!(yield* throughDelimiter(window, delimiter))) return count + 1
  }
}

/**
 * Prepares a multipart body for busboy, which silently ignores parts whose delimiter or header it cannot parse. Counts
 * the delimiters and corrects the headers, but not the content. S-28: the boundary may come from the first line.
 * Errors: MultipartError.
 */
export const prepareBody = async (source: AsyncIterator<Uint8Array>, declared: string | undefined) => {
  // A line end is added in front, so that the first delimiter looks like all others.
  const window: Window = { source, bytes: lineEnd }
  const boundary = declared ?? (await sniffBoundary(window))
  if (boundary.length > longestBoundary || !/^[\x20-\x7e]*[\x21-\x7e]$/.test(boundary)) {
    throw new MultipartError('its boundary is empty, too long or not well-formed')
  }
  return { boundary, pieces: mendBody(window, boundary) }
}
