import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import createParser from 'busboy'
import { readDelimiters } from './multipart-delimiters.ts'
import { MultipartError, undeclared } from './part-header.ts'

/** A part of a multipart/form-data body (RFC 7578). The characters of its names are bytes: what they mean, the reader decides. */
export interface Part {
  readonly name: string | undefined
  /** Whether it has a file name, or is declared as `application/octet-stream`. Of one that has neither, the content is not kept. */
  readonly isFile: boolean
  /** As it came, with a path in front, maybe. Undefined when it is missing or empty. */
  readonly fileName: string | undefined
  /** `type/subtype` in lower case. */
  readonly contentType: string | undefined
  /** To be read, or left, before the next part is asked for. What is left is read over; who comes again goes on where they stopped. */
  readonly content: AsyncIterable<Buffer>
}

async function* nothing(): AsyncGenerator<Buffer, void> {}

const parserFor = (boundary: string) =>
  createParser({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary.replace(/["\\]/g, '\\$&')}"` },
    defParamCharset: 'latin1',
    preservePath: true,
    // It is given a piece only when all that it has made of the one before is read: there is nothing to hold up.
    fileHwm: Number.MAX_SAFE_INTEGER,
    limits: { fieldSize: 0 },
  })

/**
 * The parts of a body, one after the other. Without a boundary it is taken from the body's first line. Nothing of the body is read
 * unless a part, or its content, is asked for, and whatever fails is thrown there. Errors: MultipartError, those of the source.
 */
export async function* readMultipart(
  source: AsyncIterator<Uint8Array>,
  declared: string | undefined,
): AsyncGenerator<Part, void> {
  const { boundary, pieces } = await readDelimiters(source, declared)
  const parser = parserFor(boundary)
  const arrived: Part[] = []
  let found = 0
  let isOver = false
  let failure: MultipartError | undefined

  /** Gives the parser the next piece. What it makes of it has arrived when this is done, as it does it at once. */
  const advance = async (): Promise<void> => {
    const next = await pieces.next()
    if (!next.done) parser.write(next.value)
    else {
      isOver = true
      // That rejects with the very error that is kept as the failure.
      await finished(parser.end()).catch(() => {})
      if (found !== next.value) failure ??= new MultipartError('the Content-Disposition of a part is not well-formed')
    }
    if (failure) throw failure
  }

  async function* contentOf(stream: Readable): AsyncGenerator<Buffer, void> {
    while (!stream.readableEnded) {
      if (stream.destroyed) throw new MultipartError('it is no longer read')
      const chunk: Buffer | null = stream.read()
      if (chunk) yield chunk
      // The end of a stream is told a little later than the next part.
      else if (arrived.length > 0) return
      else await advance()
    }
  }

  const arrive = (part: Part): void => {
    found++
    arrived.push(part)
  }
  parser.on('file', (name: string | undefined, stream, { filename, mimeType }) => {
    // It fails together with the parser.
    stream.on('error', () => {})
    const contentType = mimeType === undeclared ? undefined : mimeType
    arrive({
      name,
      isFile: true,
      fileName: filename,
      contentType,
      content: { [Symbol.asyncIterator]: () => contentOf(stream) },
    })
  })
  parser.on('field', (name: string | undefined) => {
    arrive({ name, isFile: false, fileName: undefined, contentType: undefined, content: nothing() })
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
