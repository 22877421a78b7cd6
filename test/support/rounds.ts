import { setImmediate as turn } from 'node:timers/promises'

/** Counts rounds of calls. Concurrent calls form one round, and are answered after the last one is made. */
export const createRounds = () => {
  const count = { calls: 0, rounds: 0 }
  let held: (() => void)[] = []
  let known = 0
  const release = async (): Promise<void> => {
    for (let seen = -1; seen !== known; ) {
      seen = known
      for (let turns = 0; turns < 10; turns++) await turn()
    }
    count.rounds += 1
    const all = held
    held = []
    for (const go of all) go()
  }
  return {
    count,
    ask: (): Promise<void> => {
      known += 1
      return new Promise((resolve) => {
        held.push(resolve)
        if (held.length === 1) void release()
      })
    },
  }
}
