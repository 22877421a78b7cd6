/**
 * Works on items in their order, as they come, `most` of them at once. After a failure nothing new is begun, and no further item is asked for; the first
 * failure, of the work or of the items' source, is thrown when everything begun has ended.
 * (p-map rejects while other calls are still going on: whoever then takes back what they did would come too early.)
 */
export const inParallel = async <Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  most: number,
  work: (item: Item) => Promise<void>,
): Promise<void> => {
  const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
  const failures: unknown[] = []
  const worker = async (): Promise<void> => {
    try {
      while (failures.length === 0) {
        const next = await source.next()
        if (next.done || failures.length > 0) return
        await work(next.value)
      }
    } catch (error) {
      failures.push(error)
    }
  }
  await Promise.all(Array.from({ length: most }, worker))
  if (failures.length === 0) return
  await Promise.allSettled([source.return?.()])
  throw failures[0]
}
