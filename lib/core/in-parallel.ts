export const chunksOf = <Value>(values: readonly Value[], size: number): Value[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, index) => values.slice(index * size, (index + 1) * size))

/**
 * Works on the items in order, at most `most` at once. After the first failure it starts no more work, waits for the
 * running work, and then throws the failure. (p-map rejects while other calls still run, which is too early for an
 * undo.)
 */
export const inParallel = async <Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  most: number,
  work: (item: Item) => Promise<unknown>,
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
