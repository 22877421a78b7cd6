import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import createParser from 'busboy'
import { MultipartError, prepareBody, undeclared } from './multipart-body.ts'

/**
 * A part of a multipart/form-data body (RFC 7578). Each character of `name` and `fileName` is one byte. A file name
 * includes its path. Parts with a file name or of type `application/octet-stream` are files; other parts have neither
 * `fileName` nor content. Read the content before you ask for the next part: unread content is skipped. A second reader
 * continues where the first one stopped.
 */
interface Part {
  readonly name: string | undefined
  readonly fileName: string | undefined
  readonly contentType: string | undefined
  readonly content: AsyncIterable<Buffer>
}

async function* nothing(): AsyncGenerator<Buffer, void> {}

/** Reads only as far as the caller asks for parts and their content. Errors: MultipartError, those of the source. */
export async function* readMultipart(source: AsyncIterator<Uint8Array>, declared: string | undefined) {
  const { boundary, pieces } = await prepareBody(source, declared)
  const parser = createParser({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary.replace(/["\\]/g, '\\$&')}"` },
    defParamCharset: 'latin1',
    preservePath: true,
    // The parser finds all parts of a piece at once, and gets the next piece only after they are read. It never waits.
    fileHwm: Number.MAX_SAFE_INTEGER,
    limits: { fieldSize: 0 },
  })
  const arrived: Part[] = []
  let found = 0
  let isOver = false
  let failure: MultipartError | undefined

  const advance = async (): Promise<void> => {
    const next = await pieces.next()
    if (!next.done) parser.write(next.value)
    else {
      isOver = true
      await finished(parser.end()).catch(() => {})
      if (found !== next.value) failure ??= new MultipartError('the Content-Disposition of a part is not well-formed')
    }
    if (failure) throw failure
  }

  async function* contentOf(stream: Readable): AsyncGenerator<Buffer, void> {
    while (!stream.readableEnded) {
      if (stream.destroyed) throw new MultipartError('its reader has stopped')
      const chunk: Buffer | null = stream.read()
      if (chunk) yield chunk
      // Busboy has found the next part, so this part is complete, although the end of its stream is not yet reported.
      else if (arrived.length > 0) return
      else await advance()
    }
  }

  parser.on('file', (name: string | undefined, stream, { filename: fileName = '', mimeType }) => {
    found++
    stream.on('error', () => {})
    const contentType = mimeType === undeclared ? undefined : mimeType
    arrived.push({ name, fileName, contentType, content: { [Symbol.asyncIterator]: () => contentOf(stream) } })
  })
  parser.on('field', (name: string | undefined) => {
    found++
    arrived.push({ name, fileName: undefined, contentType: undefined, content: nothing() })
  })
  parser.on('error', (cause) => {
    failure ??= new MultipartError(cause instanceof Error ? cause.message : String(cause), { cause })
  })

  try {
    while (!isOver) {
      const part = arrived.shift()
      if (!part) await advance()
      else {
        yield part
        for await (const _ of part.content);
      }
    }
  } finally {
    parser.destroy()
  }
}
