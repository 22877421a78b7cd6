import { randomBytes } from 'node:crypto'
import type { Conditions, Key, Table } from './dynamodb.ts'

/**
 * A mark is stored with a write, so that the writer recognises its own write. The SDK repeats a call whose answer was
 * lost, and the repetition then finds its condition false. A call that was cut off at its deadline may have written
 * too. `putMarked` returns true even if only the answer to its write was lost.
 */
export const createMark = (bytes = 9): string => randomBytes(bytes).toString('base64url')

/** True if this write is stored. `stored` is the mark of the item, or the marks of its last writes. */
export const isOwnWrite = (mark: string, stored: string | Iterable<string> = ''): boolean =>
  typeof stored === 'string' ? stored === mark : [...stored].includes(mark)

export const putMarked = async <Item extends { readonly mark?: string }>(
  table: Table<Item>,
  key: Key,
  item: NoInfer<Item>,
  condition: Conditions,
  mark = createMark(),
): Promise<boolean> =>
  (await table.put({ ...item, mark }, { condition })) || isOwnWrite(mark, (await table.get(key))?.mark)
