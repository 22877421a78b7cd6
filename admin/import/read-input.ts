import { createReadStream } from 'node:fs'
import { Refusal } from '../refusal.ts'

/** The text of a file, or of standard input for `-`, as it is read. Throws a Refusal when it cannot be. */
export async function* readInput(file: string): AsyncGenerator<string> {
  try {
    yield* file === '-' ? process.stdin.setEncoding('utf8') : createReadStream(file, { encoding: 'utf8' })
  } catch (error) {
    throw new Refusal(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}
