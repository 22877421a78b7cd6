import { fstatSync, writeSync } from 'node:fs'

/** The output has no reader any more, or no space: part of it is lost. */
export class OutputLost extends Error {
  override readonly name = 'OutputLost'
  /** Its reader has had enough, as `head` has. */
  readonly hasReaderGone: boolean

  constructor(cause: Error) {
    super(`Standard output cannot be written: ${cause.message}. Send it to where there is room.`, { cause })
    this.hasReaderGone = 'code' in cause && cause.code === 'EPIPE'
  }
}

/** A terminal, a pipe or a socket takes all of what it is given, or says that it does not. */
const takesAll = (): boolean => {
  if (process.stdout.isTTY) return true
  const stats = fstatSync(1)
  return stats.isFIFO() || stats.isSocket()
}

/**
 * Writes to standard output: true when it can take more at once, and false when it first has to `drain`. An error is
 * one of `process.stdout`.
 */
export const writeOut = (data: Uint8Array | string): boolean => {
  if (takesAll()) return process.stdout.write(data)
  // Node's own stream does not say when only a part of the bytes has found room in a file.
  let left = typeof data === 'string' ? Buffer.from(data) : data
  try {
    while (left.length > 0) left = left.subarray(writeSync(1, left))
  } catch (error) {
    process.stdout.emit('error', error)
  }
  return true
}
