import { type Issuers, type KeyedValues, noTrust, type Trust } from '../../access/issuers/issuers.ts'
import {
  isPersonName,
  keyOfName,
  lowerAscii,
  ownershipsLost,
  type People,
  type Person,
  requireOtherOwners,
  withoutSite,
} from '../../access/people.ts'
import { type Attempts, countAttempt, type SignInAttempts } from '../../access/sign-in-limits.ts'
import { ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import { compareText } from '../../core/names.ts'
import { expression, mapped, openTable, scan, type TableOptions } from './dynamodb.ts'
import { type RecordingOptions, recordIf } from './journal.ts'
import { createMark, putMarked } from './write-mark.ts'

interface PersonItem extends Person {
  readonly key: string
  readonly mark?: string
  readonly leavingUntil?: number
}

const toPerson = ({ key: _, mark: __, leavingUntil: ___, ...person }: PersonItem): Person => person

// In milliseconds. A person is leaving for longer than any request lasts, and nothing is changed near the end.
const leavingLasts = 90_000
const leavingReserve = 45_000

/**
 * The table Users: one item for each person. Two owners may leave a site at the same moment. So an owner who is about to
 * leave is first stored as leaving. For anybody else who is about to leave, this owner does not count. Then the store
 * counts the other owners. If the answer to `create` was lost, somebody may already have changed the new person.
 */
export const createPeople = ({ record, now = Date.now, ...options }: RecordingOptions): People => {
  const table = openTable<PersonItem>(options)
  const isIn = ({ version, created }: Person) => expression`#version = ${version} AND #created = ${created}`

  const write = async (before: Person, after: Person | undefined, mark?: string): Promise<boolean> => {
    const key = keyOfName(before.name)
    const condition = [isIn(before), mark === undefined ? undefined : expression`#mark = ${mark}`]
    if (after) return putMarked(table, { key }, { ...after, key, version: before.version + 1 }, condition)
    return table.remove({ key }, { condition }, ({ created }) => created !== before.created)
  }

  const listIf = async (isWanted: (item: PersonItem) => boolean, isNewest = false): Promise<readonly Person[]> => {
    const found = await scan(table, (item) => (isWanted(item) ? toPerson(item) : undefined), isNewest)
    return found.sort((a, b) => compareText(keyOfName(a.name), keyOfName(b.name)))
  }

  const listOfSites = async (...wanted: readonly SiteId[]) => {
    const ids = new Set(wanted.map(String))
    return ids.size === 0 ? [] : listIf(({ sites }) => Object.keys(sites).some((id) => ids.has(id)), true)
  }

  const leave = async (before: Person, after: Person | undefined, lost: readonly SiteId[]) => {
    const key = keyOfName(before.name)
    const mark = createMark()
    const leavingUntil = now() + leavingLasts
    if (!(await putMarked(table, { key }, { ...before, key, leavingUntil }, isIn(before), mark))) return false
    let isDone = false
    try {
      const others = await listIf(
        ({ sites, leavingUntil: until = 0 }) => until <= now() && lost.some((id) => sites[id]),
        true,
      )
      requireOtherOwners(others, before, after)
      if (now() > leavingUntil - leavingReserve) throw new ServiceError('unavailable')
      isDone = await write(before, after, mark)
      return isDone
    } finally {
      if (!isDone) await table.put({ ...before, key }, { condition: expression`#mark = ${mark}` }).catch(() => {})
    }
  }

  return {
    async get(name, isNewest = true) {
      // DynamoDB refuses long keys with an error.
      if (!isPersonName(name)) return undefined
      return mapped(await table.get({ key: keyOfName(name) }, isNewest), toPerson)
    },

    async create(person, entries) {
      const key = keyOfName(person.name)
      const isFree = expression`attribute_not_exists(#key)`
      const isCreated = await putMarked(table, { key }, { ...person, key, version: 1 }, isFree)
      const stored = isCreated ? undefined : await table.get({ key })
      return recordIf(isCreated || (stored?.created === person.created && stored.version > 1), record, ...entries)
    },

    async replace(before, after, entries) {
      const lost = ownershipsLost(before, after)
      const isDone = lost.length > 0 ? await leave(before, after, lost) : await write(before, after)
      return recordIf(isDone, record, ...entries)
    },

    listOfEmail: (email) => listIf((person) => lowerAscii(person.email) === lowerAscii(email)),
    listOfSites,

    async leaveSite(site) {
      for (const person of await listOfSites(site)) {
        if (!(await write(person, withoutSite(person, site)))) throw new ServiceError('unavailable')
      }
    },
  }
}

/** The id of an item in the table of sites. No site has this id, because ids of sites are numbers. */
export const trustKey = { id: 'issuers' } as const

const mostAttempts = 5

export const createIssuers = ({ record, ...options }: RecordingOptions): Issuers => {
  const table = openTable<Trust & { readonly version: number; readonly mark?: string }>(options)

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
        const isDone = await putMarked(table, trustKey, item, condition)
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

// In milliseconds: the wait of a caller whose attempt could not be counted, because too many others counted at once.
const waitOfCrowd = 1_000

export const createSignInAttempts = ({ now = Date.now, ...options }: TableOptions): SignInAttempts => {
  const table = openTable<Attempts & { readonly key: string; readonly mark?: string; readonly forgiven?: string }>(
    options,
  )

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
        if (await putMarked(table, { key }, { ...attempts, key }, condition)) return wait
      }
      return waitOfCrowd
    },

    async forgive({ key }) {
      const forgiven = createMark()
      const condition = expression`#failures > ${0} AND (attribute_not_exists(#forgiven) OR #forgiven <> ${forgiven})`
      await table.update({ key }, { add: { failures: -1 }, set: { forgiven }, condition })
    },
  }
}
