const lineFeed = 10

/** Bytes that are no text. The message says on which line the first of them stand. */
export class NotUtf8 extends Error {
  override readonly name = 'NotUtf8'
}

/** The text that bytes are in UTF-8. Nothing is put in the place of what is none: it would be stored as if somebody had meant it. Throws NotUtf8. */
export async function* decodeUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  const decode = (bytes: Uint8Array, isLast = false): string => {
    try {
      return decoder.decode(bytes, { stream: !isLast })
    } catch {
      throw new NotUtf8(`line ${line} has bytes that are no text in UTF-8`)
    }
  }
  for await (const chunk of chunks) {
    let text = ''
    // Line by line, so that a fault is found on its own line.
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf(lineFeed, from) + 1 || chunk.length
      text += decode(chunk.subarray(from, end))
      if (chunk[end - 1] === lineFeed) line += 1
      from = end
    }
    yield text
  }
  decode(new Uint8Array(), true)
}
