/**
 * Does something to each item, so many at once. The first rejection ends it, when what is going on has come to its end.
 */
export const inParallel = async <Item>(
  items: Iterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> => {
  const waiting = items[Symbol.iterator]()
  let isOver = false
  const worker = async () => {
    for (let next = waiting.next(); !next.done && !isOver; next = waiting.next()) {
      try {
        await work(next.value)
      } catch (error) {
        isOver = true
        throw error
      }
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, worker))
  for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason
}
