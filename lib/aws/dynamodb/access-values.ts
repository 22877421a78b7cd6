import { type Issuers, type KeyedValues, noTrust, type Trust } from '../../access/issuers/issuers.ts'
import { type Attempts, countAttempt, type SignInAttempts } from '../../access/sign-in-limits.ts'
import { ServiceError } from '../../core/errors.ts'
import { expression, openTable, type TableOptions } from './dynamodb.ts'
import { type RecordingOptions, recordIf } from './journal.ts'
import { putMarked } from './write-mark.ts'

/** The id of an item in the table of sites. No site has this id, because ids of sites are numbers. */
export const trustKey = { id: 'issuers' } as const

const mostAttempts = 5

interface TrustItem extends Trust {
  readonly id: string
  readonly version: number
  readonly mark?: string
}

export const createIssuers = ({ record, ...options }: RecordingOptions): Issuers => {
  const table = openTable<TrustItem>(options)

  return {
    async trust() {
      const { issuers, rules } = (await table.get(trustKey, false)) ?? noTrust
      return { issuers, rules }
    },

    async changeTrust(change, entries) {
      for (let attempt = 0; attempt < mostAttempts; attempt++) {
        const { version, issuers, rules } = (await table.get(trustKey)) ?? { ...noTrust, version: 0 }
        const item = { ...change({ issuers, rules }), ...trustKey, version: version + 1 }
        const condition = expression`attribute_not_exists(#id) OR #version = ${version}`
        const isDone = await putMarked(table, trustKey, item, { condition })
        if (await recordIf(isDone, record, ...entries)) return
      }
      throw new ServiceError('unavailable')
    },
  }
}

interface ValueItem {
  readonly hash: string
  readonly value: string
  readonly expires?: number | undefined
}

/** The values are in the table of the tokens, because items of this table expire. */
export const createAccessValues = ({ now: clock = Date.now, ...options }: TableOptions): KeyedValues => {
  const table = openTable<ValueItem>(options)
  const now = () => clock() / 1000
  const keyOf = (key: string) => ({ hash: `value#${key}` })
  // DynamoDB may keep expired items for days.
  const valid = (item: ValueItem | undefined) =>
    item && (item.expires ?? Number.POSITIVE_INFINITY) > now() ? item.value : undefined
  return {
    get: async (key) => valid(await table.get(keyOf(key))),
    take: async (key) => valid(await table.take(keyOf(key))),

    // If the stored value is the same, this call is a repetition after a lost answer.
    put(key, value, expires) {
      const condition = expression`attribute_not_exists(#hash) OR #expires <= ${now()} OR #value = ${value}`
      return table.put({ ...keyOf(key), value, expires }, { condition })
    },
  }
}

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
