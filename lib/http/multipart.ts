import { MultipartError, type PartHeader, readPartHeader } from './part-header.ts'

/**
 * multipart/form-data (RFC 7578) as a stream of parts, strictly: what is not well-formed is an error, never a part that is missing in
 * silence, and an empty file name differs from none, because the contract gives the two different codes. (The usual parsers pass over
 * a part with a broken header, and take an empty file name for none.) Finding the delimiter is left to Buffer.indexOf.
 */
export interface Part {
  readonly header: PartHeader
  /** To be read, or left, before the next part is asked for. What is left is read over. */
  readonly content: AsyncIterable<Buffer>
}

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
  let bytes: Buffer = Buffer.alloc(0)
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

const startsWith = (window: Window, mark: Buffer): boolean => window.bytes.subarray(0, mark.length).equals(mark)

const ensure = async (window: Window, length: number): Promise<void> => {
  while (window.bytes.length < length) {
    if (!(await window.grow())) throw new MultipartError('it ends too early')
  }
}

/** Takes everything up to a mark, and the mark, or only so many bytes of it. */
const takeThrough = async (
  window: Window,
  mark: Buffer,
  longest: number,
  what: string,
  ofMark = mark.length,
): Promise<Buffer> => {
  let from = 0
  for (;;) {
    const at = window.bytes.indexOf(mark, from)
    if (at >= 0 && at <= longest) return window.take(at + ofMark).subarray(0, at)
    if (at > longest || window.bytes.length > longest + mark.length) throw new MultipartError(`${what} is too long`)
    from = Math.max(window.bytes.length - mark.length + 1, 0)
    if (!(await window.grow())) throw new MultipartError('it ends too early')
  }
}

/** The boundary that the body's own first line shows, for bodies whose `Content-Type` does not name it. */
const sniffBoundary = async (window: Window): Promise<string> => {
  // Some clients put a line end in front of every boundary, the first one too.
  await ensure(window, lineEnd.length)
  if (startsWith(window, lineEnd)) window.take(lineEnd.length)
  const line = await takeThrough(window, lineEnd, longestBoundary + dashes.length, 'the first line')
  const boundary = line.toString('latin1').trimEnd()
  if (!/^--[\x21-\x7e][\x20-\x7e]*$/.test(boundary)) throw new MultipartError('it does not begin with a boundary')
  return boundary.slice(dashes.length)
}

/** Reads over a preamble and the first delimiter, which has no line end in front of it when nothing comes before. */
const passFirstDelimiter = async (window: Window, boundary: string): Promise<void> => {
  const first = Buffer.from(`--${boundary}`, 'latin1')
  await ensure(window, first.length)
  if (startsWith(window, first)) window.take(first.length)
  else await takeThrough(window, Buffer.concat([lineEnd, first]), longestHeader, 'the preamble')
}

/** What follows a delimiter: the end of its line, or two dashes, which end the body. Answers whether a part follows. */
const partFollows = async (window: Window): Promise<boolean> => {
  await ensure(window, 2)
  if (startsWith(window, dashes)) return false
  const padding = await takeThrough(window, lineEnd, longestBoundary, 'the padding of a delimiter')
  if (/[^ \t]/.test(padding.toString('latin1'))) throw new MultipartError('something follows a boundary in its line')
  return true
}

/** Takes the header of a part, but not the blank line behind it: that may belong to a delimiter. */
const takeHeader = async (window: Window): Promise<PartHeader> => {
  await ensure(window, lineEnd.length)
  if (startsWith(window, lineEnd)) return readPartHeader(Buffer.alloc(0))
  return readPartHeader(await takeThrough(window, headerEnd, longestHeader, 'the header of a part', lineEnd.length))
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

/** The bytes of a part up to the delimiter behind it, which is taken as well. */
async function* contentOf(window: Window, delimiter: Buffer): AsyncGenerator<Buffer, void> {
  await ensure(window, delimiter.length)
  // A part may end with its header; its blank line is that of the delimiter then (RFC 2046, section 5.1.1).
  if (!startsWith(window, delimiter)) window.take(lineEnd.length)
  for (;;) {
    const at = window.bytes.indexOf(delimiter)
    if (at >= 0) {
      const last = window.take(at + delimiter.length).subarray(0, at)
      if (last.length > 0) yield last
      return
    }
    const safe = lengthBeforeDelimiter(window.bytes, delimiter)
    if (safe > 0) yield window.take(safe)
    if (!(await window.grow())) throw new MultipartError('it ends too early')
  }
}

/** The parts of a body, one after the other. Without a boundary it is taken from the body's first line. Errors: MultipartError. */
export async function* readMultipart(
  source: AsyncIterator<Uint8Array>,
  declared: string | undefined,
): AsyncGenerator<Part, void> {
  const window = createWindow(source)
  if (declared !== undefined && (declared === '' || declared.length > longestBoundary)) {
    throw new MultipartError('its boundary is empty or too long')
  }
  const boundary = declared ?? (await sniffBoundary(window))
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  let follows = true
  if (declared !== undefined) {
    await passFirstDelimiter(window, boundary)
    follows = await partFollows(window)
  }
  for (let count = 0; follows; count++) {
    if (count === mostParts) throw new MultipartError(`it has more than ${mostParts} parts`)
    const header = await takeHeader(window)
    const content = contentOf(window, delimiter)
    yield { header, content }
    while (!(await content.next()).done);
    follows = await partFollows(window)
  }
  // The epilogue says nothing, but a connection that breaks in it has broken.
  do window.take(window.bytes.length)
  while (await window.grow())
}
