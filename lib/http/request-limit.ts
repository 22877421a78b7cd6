import { setRecent } from '../core/cached-lookup.ts'
import { tooManyRequests } from '../core/errors.ts'

const burstSeconds = 5
const mostKeys = 10_000

export type RequestLimit = (key: string | number) => void

/**
 * O-22: admits `rate` requests per second for each key. After a pause, a key may send more at once. A rate of 0 admits
 * all requests. Counts only the requests of this process, without a store. `now` is in milliseconds. Errors:
 * tooManyRequests.
 */
export const createRequestLimit = (rate: number, limited: string, now: () => number): RequestLimit => {
  const most = rate * burstSeconds
  const allowances = new Map<string | number, { readonly left: number; readonly at: number }>()
  return (key) => {
    if (rate === 0) return
    const at = now()
    const before = allowances.get(key) ?? { left: most, at }
    const left = Math.min(most, before.left + ((at - before.at) / 1000) * rate)
    setRecent(allowances, key, { left: left < 1 ? left : left - 1, at }, mostKeys)
    if (left >= 1) return
    throw tooManyRequests(`Too many requests arrive ${limited}.`, (1 - left) / rate)
  }
}
