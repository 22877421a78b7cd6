import { randomBytes } from 'node:crypto'

/**
 * A mark is stored with a write, so that the writer recognises its own write. The SDK repeats a call whose answer was
 * lost, and the repetition then finds its condition false. A call that was cut off at its deadline may have written
 * too.
 */
export const createMark = (bytes = 9): string => randomBytes(bytes).toString('base64url')

/** True if this write is stored. `stored` is the mark of the item, or the marks of its last writes. */
export const isOwnWrite = (mark: string, stored: string | Iterable<string> = ''): boolean =>
  typeof stored === 'string' ? stored === mark : [...stored].includes(mark)
