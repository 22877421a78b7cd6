import { createReadStream, statSync } from 'node:fs'
import { Refusal } from '../refusal.ts'
import { decodeUtf8, NotUtf8 } from './decode-utf8.ts'

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
