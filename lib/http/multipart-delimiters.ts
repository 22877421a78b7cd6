import { MultipartError, mendHeader } from './part-header.ts'

const longestHeader = 16 * 1024
const longestBoundary = 200
const mostParts = 1_000
const lineEnd = Buffer.from('\r\n')
const headerEnd = Buffer.from('\r\n\r\n')
const dashes = Buffer.from('--')

/** The bytes that came and are not used yet. */
interface Window {
  readonly bytes: Buffer
  /** Adds the next bytes. Answers false at the end. */
  grow(): Promise<boolean>
  /** Takes from the front. */
  take(length: number): Buffer
}

const createWindow = (source: AsyncIterator<Uint8Array>): Window => {
  // Like any delimiter, the first one has a line end in front of it then.
  let bytes: Buffer = lineEnd
  return {
    get bytes() {
      return bytes
    },
    async grow() {
      const { done, value } = await source.next()
      if (done) return false
      const chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
      return true
    },
    take(length) {
      const taken = bytes.subarray(0, length)
      bytes = bytes.subarray(length)
      return taken
    },
  }
}

const startsWith = async (window: Window, mark: Buffer, from = 0): Promise<boolean> => {
  while (window.bytes.length < from + mark.length && (await window.grow()));
  return window.bytes.subarray(from, from + mark.length).equals(mark)
}

/** Where a mark stands, at most so many bytes from the front; -1 when the body ends before it. */
const find = async (window: Window, mark: Buffer, longest: number, what: string, start = 0): Promise<number> => {
  let from = start
  for (;;) {
    const at = window.bytes.indexOf(mark, from)
    if (at > longest || (at < 0 && window.bytes.length > longest + mark.length)) {
      throw new MultipartError(`${what} is too long`)
    }
    if (at >= 0) return at
    from = Math.max(window.bytes.length - mark.length + 1, start)
    if (!(await window.grow())) return -1
  }
}

/** The boundary that the body's own first line shows, for bodies whose `Content-Type` does not name it. */
const sniffBoundary = async (window: Window): Promise<string> => {
  // Some clients put a line end in front of every boundary, the first one too.
  const start = (await startsWith(window, headerEnd)) ? headerEnd.length : lineEnd.length
  const end = await find(window, lineEnd, start + dashes.length + longestBoundary, 'the first line', start)
  const line = window.bytes.toString('latin1', start, Math.max(end, start))
  if (!line.startsWith('--')) throw new MultipartError('it does not begin with a boundary')
  return line.slice(dashes.length)
}

/** How much comes before what may be the beginning of a delimiter at the end: mostly all of it, so that nothing has to be copied. */
const lengthBeforeDelimiter = (bytes: Buffer, delimiter: Buffer): number => {
  const [first = 0] = delimiter
  const start = Math.max(bytes.length - delimiter.length + 1, 0)
  for (let at = bytes.indexOf(first, start); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (bytes.subarray(at).equals(delimiter.subarray(0, bytes.length - at))) return at
  }
  return bytes.length
}

/** The bytes up to a delimiter, which is taken as well. Answers false when the body ends before it. */
async function* throughDelimiter(window: Window, delimiter: Buffer): AsyncGenerator<Buffer, boolean> {
  for (;;) {
    const at = window.bytes.indexOf(delimiter)
    if (at >= 0) {
      const last = window.take(at + delimiter.length).subarray(0, at)
      if (last.length > 0) yield last
      return true
    }
    const safe = lengthBeforeDelimiter(window.bytes, delimiter)
    if (safe > 0) yield window.take(safe)
    if (!(await window.grow())) return false
  }
}

/** The header behind a delimiter, mended. The line end of the blank line stays: that may belong to the next delimiter. */
const takeHeader = async (window: Window): Promise<string | undefined> => {
  const end = await find(window, headerEnd, longestHeader, 'the header of a part')
  if (end < 0) return undefined
  const header = window.take(end + lineEnd.length).toString('latin1', 0, end)
  if (header === '') throw new MultipartError('a part has no header')
  if (!header.startsWith('\r\n')) throw new MultipartError('something follows a boundary in its line')
  return mendHeader(header.slice(lineEnd.length))
}

/** The bytes for busboy. Answers how many parts they hold. What ends too early ends here as well: busboy refuses it. */
async function* mendBody(window: Window, boundary: string): AsyncGenerator<Buffer, number> {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  const first = await find(window, delimiter, longestHeader, 'the preamble')
  if (first < 0) return 0
  window.take(first + delimiter.length)
  for (let count = 0; ; count++) {
    if (await startsWith(window, dashes)) {
      yield Buffer.concat([delimiter, dashes])
      // The epilogue says nothing, but a connection that breaks in it has broken.
      do window.take(window.bytes.length)
      while (await window.grow())
      return count
    }
    if (count === mostParts) throw new MultipartError(`it has more than ${mostParts} parts`)
    const header = await takeHeader(window)
    if (header === undefined) return count
    yield Buffer.from(`\r\n--${boundary}\r\n${header}\r\n\r\n`, 'latin1')
    // A part may end with its header; its blank line is that of the delimiter then (RFC 2046, section 5.1.1).
    if (!(await startsWith(window, delimiter))) window.take(lineEnd.length)
    if (!(yield* throughDelimiter(window, delimiter))) return count + 1
  }
}

/**
 * A multipart body on its way to busboy, which passes over a part in silence when something follows its boundary or its header is not as
 * it should be. So what stands between two parts is looked at here, and mended where clients are known to write it in another way. The
 * content of the parts goes through as it came. Without a boundary it is taken from the first line. Errors: MultipartError.
 */
export const readDelimiters = async (
  source: AsyncIterator<Uint8Array>,
  declared: string | undefined,
): Promise<{ readonly boundary: string; readonly pieces: AsyncGenerator<Buffer, number> }> => {
  const window = createWindow(source)
  const boundary = declared ?? (await sniffBoundary(window))
  if (boundary.length > longestBoundary || !/^[\x20-\x7e]*[\x21-\x7e]$/.test(boundary)) {
    throw new MultipartError('its boundary is empty, too long or not well-formed')
  }
  return { boundary, pieces: mendBody(window, boundary) }
}
