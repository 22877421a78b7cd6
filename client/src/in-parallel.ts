/** Runs up to `atOnce` items at a time. Rejects with the first failure, after the running items have ended. */
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
