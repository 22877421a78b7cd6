import { open } from 'node:fs/promises'
import { Refusal } from '../refusal.ts'

/** The text of a file, or of standard input for `-`, as it is read. */
export const openInput = async (file: string): Promise<AsyncIterable<string>> => {
  if (file === '-') return process.stdin.setEncoding('utf8')
  try {
    return (await open(file)).createReadStream({ encoding: 'utf8' })
  } catch (error) {
    throw new Refusal(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}
