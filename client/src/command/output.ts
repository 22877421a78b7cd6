import { fstatSync, writeSync } from 'node:fs'
import { escapeControls, jsonOf } from './format-text.ts'

export class OutputLost extends Error {
  override readonly name = 'OutputLost'
  /** The reader has closed the pipe, as `head` does. */
  readonly isReaderClosed: boolean

  constructor(cause: Error) {
    super(`Standard output cannot be written: ${cause.message}. Redirect it to a disk with free space.`, { cause })
    this.isReaderClosed = 'code' in cause && cause.code === 'EPIPE'
  }
}

/** Node reports a write that takes only a part of the text for terminals, pipes and sockets, but not for files. */
const reportsShortWrites = (): boolean => {
  if (process.stdout.isTTY) return true
  const stats = fstatSync(1)
  return stats.isFIFO() || stats.isSocket()
}

/**
 * Writes to standard output. If this returns false, wait for `drain` before the next write. Errors are emitted on
 * `process.stdout`.
 */
export const writeOut = (data: Uint8Array | string): boolean => {
  if (reportsShortWrites()) return process.stdout.write(data)
  let left = typeof data === 'string' ? Buffer.from(data) : data
  try {
    while (left.length > 0) left = left.subarray(writeSync(1, left))
  } catch (error) {
    process.stdout.emit('error', error)
  }
  return true
}

/** Prints one JSON event, or a sentence to standard error. */
export const tell = ({ json }: { readonly json: boolean }, event: object, sentence: string): void => {
  if (json) writeOut(`${jsonOf(event)}\n`)
  else console.error(escapeControls(sentence))
}
