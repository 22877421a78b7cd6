import { isDeepStrictEqual } from 'node:util'
import { type Issuers, type KeyedValues, noTrust, type Trust } from '../../access/issuers/issuers.ts'
import {
  isPersonName,
  keyOfName,
  losesLastOwner,
  lowerAscii,
  ownershipsLost,
  type People,
  type Person,
  updatePerson,
  withoutSite,
} from '../../access/people.ts'
import { type Attempts, countAttempt, type SignInAttempts } from '../../access/sign-in-limits.ts'
import { ServiceError } from '../../core/errors.ts'
import { type SiteId, storedId } from '../../core/ids.ts'
import { compareText } from '../../core/names.ts'
import { expression, mapped, openTable, scan, type TableOptions } from './dynamodb.ts'
import { type RecordingOptions, recordIf } from './journal.ts'
import { putMarked } from './write-mark.ts'

interface PersonItem extends Person {
  readonly key: string
  readonly mark?: string
}

const toPerson = ({ key: _, mark: __, ...person }: PersonItem): Person => person

/**
 * Undoes only what the change itself wrote. Access that another caller removed meanwhile must not come back. A new
 * person with the same name gets nothing of the removed person.
 */
const takeBack = async (people: People, before: Person, after: Person | undefined): Promise<void> => {
  if (!after) return void (await people.create(before, []))
  await updatePerson(people, before.name, (present) => {
    if (present.created !== before.created) return { after: present }
    const isUnchanged = (site: string) =>
      isDeepStrictEqual(present.sites[storedId<SiteId>(site)], after.sites[storedId<SiteId>(site)])
    const changedMeanwhile = Object.entries(present.sites).filter(([site]) => !isUnchanged(site))
    const restored = Object.entries(before.sites).filter(([site]) => isUnchanged(site))
    const disabled = present.disabled === after.disabled ? before.disabled : present.disabled
    const sites = Object.fromEntries([...changedMeanwhile, ...restored])
    return { after: { ...present, sites, disabled } }
  })
}

/**
 * The table Users: one item for each person. Two owners may leave a site at the same moment. So the store counts the
 * owners before and after the change, and undoes the change if no owner is left. It then keeps the changes that came
 * meanwhile.
 */
export const createPeople = ({ record, ...options }: RecordingOptions): People => {
  const table = openTable<PersonItem>(options)

  const write = async (before: Person, after: Person | undefined): Promise<boolean> => {
    const key = keyOfName(before.name)
    const ifSame = { condition: expression`#version = ${before.version} AND #created = ${before.created}` }
    if (after) return putMarked(table, { key }, { ...after, key, version: before.version + 1 }, ifSame)
    return table.remove({ key }, ifSame)
  }

  const listIf = async (isWanted: (person: Person) => boolean, isNewest = false): Promise<readonly Person[]> => {
    const found: Person[] = []
    for await (const item of scan(table, isNewest)) if (isWanted(item)) found.push(toPerson(item))
    return found.sort((a, b) => compareText(keyOfName(a.name), keyOfName(b.name)))
  }

  const listOfSites = async (...wanted: readonly SiteId[]) => {
    const ids = new Set(wanted.map(String))
    return ids.size === 0 ? [] : listIf(({ sites }) => Object.keys(sites).some((id) => ids.has(id)), true)
  }

  const people: People = {
    async get(name, isNewest = true) {
      // DynamoDB refuses long keys with an error.
      if (!isPersonName(name)) return undefined
      return mapped(await table.get({ key: keyOfName(name) }, isNewest), toPerson)
    },

    async create(person, entries) {
      const key = keyOfName(person.name)
      const condition = expression`attribute_not_exists(#key)`
      const isCreated = await putMarked(table, { key }, { ...person, key, version: 1 }, { condition })
      return recordIf(isCreated, record, ...entries)
    },

    async replace(before, after, entries) {
      const isLastOwner = async () => losesLastOwner(await listOfSites(...ownershipsLost(before, after)), before, after)
      if (await isLastOwner()) return 'last owner'
      if (!(await write(before, after))) return 'overtaken'
      const undo = () => takeBack(people, before, after)
      const isLost = await isLastOwner().catch(async (error: unknown) => {
        await undo()
        throw error
      })
      if (isLost) await undo()
      await recordIf(!isLost, record, ...entries)
      return isLost ? 'last owner' : 'done'
    },

    listOfEmail: (email) => listIf((person) => lowerAscii(person.email) === lowerAscii(email)),
    listOfSites,

    async leaveSite(site) {
      for (const person of await listOfSites(site)) {
        if (!(await write(person, withoutSite(person, site)))) throw new ServiceError('unavailable')
      }
    },
  }
  return people
}

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
