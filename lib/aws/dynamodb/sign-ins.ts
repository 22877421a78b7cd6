import { type Attempts, countAttempt, type SignInAttempts } from '../../access/sign-in-limits.ts'
import { expression, openTable, type TableOptions } from './dynamodb.ts'
import { putMarked } from './write-mark.ts'

const mostTries = 8

/** In milliseconds: the wait if too many attempts compete for one count. */
const waitOfCrowd = 1_000

export const createSignInAttempts = ({ now = Date.now, ...options }: TableOptions): SignInAttempts => {
  const table = openTable<Attempts & { readonly key: string; readonly mark?: string }>(options)

  return {
    async count(limit) {
      const { key } = limit
      for (let attempt = 0; attempt < mostTries; attempt++) {
        const stored = await table.get({ key })
        const { attempts, wait } = countAttempt(stored, limit, now())
        if (attempts === stored) return wait
        // Another attempt may have been forgiven meanwhile, which changes only the number of failures.
        const { mark = '', failures = 0 } = stored ?? {}
        const condition = expression`attribute_not_exists(#key) OR (#mark = ${mark} AND #failures = ${failures})`
        if (await putMarked(table, { key }, { ...attempts, key }, { condition })) return wait
      }
      return waitOfCrowd
    },

    async forgive({ key }) {
      await table.update({ key }, { add: { failures: -1 }, condition: expression`#failures > ${0}` })
    },
  }
}
