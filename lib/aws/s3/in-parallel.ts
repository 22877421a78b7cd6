/** How many calls go to S3 at once. */
const callsInFlight = 32

/** Runs the work for each item, several at once. After a failure nothing new is begun; it is thrown when everything begun has ended. */
export const inParallel = async <Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> => {
  const failures: unknown[] = []
  const waiting = items.values()
  const worker = async () => {
    for (const item of waiting) {
      if (failures.length > 0) return
      try {
        await run(item)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(callsInFlight, items.length) }, worker))
  if (failures.length > 0) throw failures[0]
}
