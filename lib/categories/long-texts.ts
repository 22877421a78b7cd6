import { collectThatFit, type Json, largestPage, toJson } from '../core/answer-size.ts'
import type { Item } from '../core/item-shape.ts'
import type { Selection } from './query/fields.ts'

/** How many long texts are read at a time: some of them may be all that an answer can hold. */
const textsAtOnce = 50

/**
 * Writes of each item of a page what is shown, as many of them as an answer holds. `complete` gives items their long texts; it is
 * absent where none are shown.
 */
export const writeItems = async (
  items: readonly Item[],
  fields: Selection,
  complete?: (items: readonly Item[]) => Promise<readonly Item[]>,
): Promise<readonly Json<Item>[]> => {
  const { taken, add } = collectThatFit<Item>(largestPage)
  for (let from = 0; from < items.length; from += textsAtOnce) {
    const some = items.slice(from, from + textsAtOnce)
    const whole = complete ? await complete(some) : some
    if (!whole.every((item) => add(toJson(fields.select(item))))) break
  }
  return taken
}
