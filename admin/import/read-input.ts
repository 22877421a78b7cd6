import { createReadStream, statSync } from 'node:fs'
import { Refusal } from '../refusal.ts'

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

const saveAsUtf8 = 'Save it in UTF-8, and import it again'

/** The text of a file or of standard input as it is read. */
async function* readText(file: string): AsyncGenerator<string> {
  try {
    yield* decodeUtf8(file === '-' ? process.stdin : createReadStream(file))
  } catch (error) {
    if (error instanceof NotUtf8) throw error
    throw new Refusal(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** What can be read once only is not read beforehand: standard input, a pipe. */
const canBeReadTwice = (file: string): boolean =>
  file !== '-' && (statSync(file, { throwIfNoEntry: false })?.isFile() ?? false)

/**
 * The text of a file, or of standard input for `-`, as it is read. A file is read through beforehand, so that nothing of it is imported when
 * it is not text. Throws a Refusal when it cannot be read, or is not UTF-8.
 */
export async function* readInput(file: string): AsyncGenerator<string> {
  const isChecked = canBeReadTwice(file)
  try {
    if (isChecked) for await (const _ of readText(file));
    yield* readText(file)
  } catch (error) {
    if (!(error instanceof NotUtf8)) throw error
    const what = file === '-' ? 'Standard input' : file
    throw new Refusal(
      isChecked
        ? `${what} is not imported: ${error.message}. ${saveAsUtf8}.`
        : `${what} is not imported any further: ${error.message}. ${saveAsUtf8}: importing again is safe.`,
    )
  }
}
