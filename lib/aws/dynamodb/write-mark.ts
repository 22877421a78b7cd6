import { randomBytes } from 'node:crypto'

/**
 * A mark is stored with a write, so that its writer recognises it. The SDK repeats a call whose answer was lost, and the
 * repetition finds its own condition broken. A call that was cut at its deadline may have written as well.
 */
export const createMark = (bytes = 9): string => randomBytes(bytes).toString('base64url')

/** Was this write mine? `stored` is the mark of the item, or the marks of its last writes. */
export const isOwnWrite = (mark: string, stored: string | Iterable<string> = ''): boolean =>
  typeof stored === 'string' ? stored === mark : [...stored].includes(mark)
