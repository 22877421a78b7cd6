import { type Attempts, countAttempt, type Limit, type SignInAttempts } from '../../access/sign-in-limits.ts'
import { openTable, type TableOptions } from './dynamodb.ts'
import { createMark, isOwnWrite } from './write-mark.ts'

const mostTries = 4

/** In milliseconds: the wait if too many attempts compete for one count. */
const waitOfCrowd = 1_000

/** The table SignIns: one item for each limit of each name and address. */
export const createSignInAttempts = ({ now = Date.now, ...options }: TableOptions): SignInAttempts => {
  const table = openTable<Attempts & { readonly key: string; readonly mark: string }>(options)

  const countOne = async (limit: Limit): Promise<number> => {
    const { key } = limit
    const mark = createMark()
    for (let attempt = 0; attempt < mostTries; attempt++) {
      const stored = await table.get({ key })
      if (isOwnWrite(mark, stored?.mark)) return 0
      const { attempts, wait } = countAttempt(stored, limit, now())
      if (attempts === stored) return wait
      const condition = 'attribute_not_exists(#key) OR #mark = :stored'
      const values = { ':stored': stored?.mark ?? '' }
      if (await table.put({ ...attempts, key, mark }, { condition, values })) return wait
    }
    return waitOfCrowd
  }

  const forgiveOne = async ({ key }: Limit): Promise<void> => {
    const values = { ':one': -1, ':none': 0 }
    await table.update({ key }, { update: 'ADD #failures :one', condition: '#failures > :none', values })
  }

  const forgive: SignInAttempts['forgive'] = async (limits) => void (await Promise.all(limits.map(forgiveOne)))

  return {
    async count(limits) {
      const waits = await Promise.all(limits.map(countOne))
      const longest = Math.max(0, ...waits)
      // If one key refuses an attempt, the attempt does not count as a failure under the other keys.
      if (longest > 0) await forgive(limits.filter((_, index) => waits[index] === 0))
      return longest
    },
    forgive,
  }
}
