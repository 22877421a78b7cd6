import { hash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ServiceError, tooManyRequests } from '../core/errors.ts'
import { settleAll } from '../core/in-parallel.ts'
import { compareText } from '../core/names.ts'
import { dayOf } from '../core/time.ts'
import { keyOfName, type Person } from './people.ts'

/** The next attempt is allowed at `until`, in epoch milliseconds. `expires` is in epoch seconds. */
export interface Attempts {
  readonly failures: number
  readonly waits: number
  readonly until: number
  readonly expires: number
}

export interface Limit {
  readonly key: string
  readonly most: number
}

/**
 * The port to the failed sign-ins. `count` counts an attempt as failed under the key, and returns 0. If the limit is
 * exceeded, `count` returns the time to wait in milliseconds, and the attempt does not count. `forgive` uncounts an
 * attempt. Errors of both: unavailable.
 */
export interface SignInAttempts {
  count(limit: Limit): Promise<number>
  forgive(limit: Limit): Promise<void>
}

const windowSeconds = 15 * 60
const longestWait = windowSeconds * 1000

/**
 * beyond the limit, each wait allows one more attempt, and the next wait is twice as long. A rest longer
 * than the longest wait means that the clock was set back. The wait is then over, but its failures still count.
 */
export const countAttempt = (stored: Attempts | undefined, { most }: Limit, now: number) => {
  const expires = Math.ceil(now / 1000) + windowSeconds
  const before = stored && stored.expires * 1000 > now ? stored : { failures: 0, waits: 0, until: 0, expires }
  const rest = before.until - now
  if (rest > 0 && rest <= longestWait) return { attempts: before, wait: rest }
  const { failures, waits } = before
  if (failures < most + waits) return { attempts: { ...before, failures: failures + 1 }, wait: 0 }
  const wait = Math.min(1000 * 2 ** waits, longestWait)
  const until = now + wait
  const keptUntil = Math.max(before.expires, Math.ceil(until / 1000) + windowSeconds)
  return { attempts: { failures, waits: waits + 1, until, expires: keptUntil }, wait }
}

/**
 * Counts an attempt as failed, and then makes it. A success or an attempt that gets 503 does not count. If one limit
 * refuses the attempt or cannot count it, the others forgive it. If it is the first limit, the others store nothing. Errors:
 * tooManyRequests, unavailable, those of `attempt`.
 */
export const countedAttempt = async <Result>(
  attempts: SignInAttempts,
  limits: readonly Limit[],
  attempt: () => Promise<Result>,
): Promise<Result> => {
  const counted: Limit[] = []
  const count = async (limit: Limit): Promise<void> => {
    const wait = await attempts.count(limit)
    if (wait > 0) throw tooManyRequests('Too many sign-ins have failed.', wait / 1000)
    counted.push(limit)
  }
  let isFailure = false
  try {
    for (const some of [limits.slice(0, 1), limits.slice(1)]) await settleAll(some.map(count))
    return await attempt()
  } catch (error) {
    isFailure = !(error instanceof ServiceError && error.status >= 429)
    throw error
  } finally {
    if (!isFailure) await Promise.all(counted.map((limit) => attempts.forgive(limit)))
  }
}

/** an IPv6 address counts with its first 64 bits, because one subscriber has all addresses with these bits. */
export const networkOf = (address: string): string => {
  if (!isIPv6(address)) return address
  return ipaddr.IPv6.parse(address).toNormalizedString().split(':').slice(0, 4).join(':')
}

const digestOf = (...parts: readonly string[]): string => hash('sha256', parts.join('\0'), 'base64url').slice(0, 22)

const day = 24 * 3600 * 1000
const rememberedDays = 30
const mostAddresses = 20

const isKnown = ({ addresses = {} }: Person, address: string, now: number): boolean =>
  (addresses[digestOf(networkOf(address))] ?? '') >= dayOf(now - rememberedDays * day)

/** the person after a sign-in. Returns the same object if nothing changes. */
export const rememberSignIn = (person: Person, address: string | undefined, now: number): Person => {
  const today = dayOf(now)
  const known = person.addresses ?? {}
  const network = address === undefined ? undefined : digestOf(networkOf(address))
  if (person.lastSignIn === today && (network === undefined || known[network] === today)) return person
  const others = Object.entries(known).filter(([one]) => one !== network)
  const newest = others.sort(([, one], [, other]) => compareText(other, one)).slice(0, mostAddresses - 1)
  const addresses = Object.fromEntries(network === undefined ? newest : [[network, today], ...newest])
  return { ...person, lastSignIn: today, addresses }
}

export const limitsOfAddress = (address: string | undefined): readonly Limit[] =>
  address === undefined ? [] : [{ key: digestOf('address', networkOf(address)), most: 50 }]

/**
 * the limits of a sign-in. Without --trust-proxy, the address of a caller behind a proxy is unknown.
 */
export const limitsOf = (username: string, address: string | undefined, person: Person | undefined, now: number) => {
  const name = keyOfName(username)
  const ofName = { key: digestOf('name', name), most: 25 }
  if (address === undefined) return [ofName]
  return [
    ...limitsOfAddress(address),
    { key: digestOf('both', name, networkOf(address)), most: 5 },
    ...(person && isKnown(person, address, now) ? [] : [ofName]),
  ]
}
