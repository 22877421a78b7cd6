import {
  hasOtherOwner,
  isPersonName,
  keyOfName,
  lowerAscii,
  ownershipsLost,
  type People,
  type Person,
  withoutSite,
} from '../../access/people.ts'
import { compareText } from '../../core/compare-text.ts'
import { ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import { mapped, openTable, scan, type Table } from './dynamodb.ts'
import { type RecordingOptions, recordIf } from './journal.ts'
import { createMark, isOwnWrite } from './write-mark.ts'

interface PersonItem extends Person {
  readonly key: string
  readonly mark: string
}

const toPerson = ({ key: _, mark: __, ...person }: PersonItem): Person => person

const storeOf = (table: Table<PersonItem>) => {
  const isStored = async (item: PersonItem): Promise<boolean> =>
    isOwnWrite(item.mark, (await table.get({ key: item.key }))?.mark)

  const put = async (item: PersonItem, condition: string, values = {}): Promise<boolean> =>
    (await table.put(item, { condition, values })) || isStored(item)

  const isUnchanged = '#version = :version AND #created = :created'

  return {
    create: (person: Person) =>
      put({ ...person, version: 1, key: keyOfName(person.name), mark: createMark() }, 'attribute_not_exists(#key)'),

    async replace(before: Person, after: Person | undefined): Promise<boolean> {
      const key = keyOfName(before.name)
      const values = { ':version': before.version, ':created': before.created }
      if (!after) {
        const removed = await table.take({ key }, { condition: isUnchanged, values })
        return removed !== undefined || (await table.get({ key })) === undefined
      }
      return put({ ...after, version: before.version + 1, key, mark: createMark() }, isUnchanged, values)
    },

    async listOfEmail(email: string): Promise<readonly Person[]> {
      const found: Person[] = []
      for await (const item of scan(table)) if (lowerAscii(item.email) === lowerAscii(email)) found.push(toPerson(item))
      return found
    },

    async listOfSite(site: SiteId): Promise<readonly Person[]> {
      const found: Person[] = []
      for await (const item of scan(table, true)) if (item.sites[site] !== undefined) found.push(toPerson(item))
      return found.sort((a, b) => compareText(keyOfName(a.name), keyOfName(b.name)))
    },
  }
}

/**
 * The table Users: one item for each person. Two owners may leave a site at the same moment. So the store counts the
 * owners before and after the change, and undoes the change if no owner is left.
 */
export const createPeople = ({ record, ...options }: RecordingOptions): People => {
  const table = openTable<PersonItem>(options)
  const store = storeOf(table)

  const hasLast = async (before: Person, sites: readonly SiteId[]): Promise<boolean> => {
    for (const site of sites) if (!hasOtherOwner(await store.listOfSite(site), site, before)) return true
    return false
  }

  const takeBack = async (before: Person, after: Person | undefined): Promise<void> => {
    if (after) await store.replace({ ...after, version: before.version + 1 }, before)
    else await store.create(before)
  }

  return {
    async get(name, isNewest = true) {
      // DynamoDB refuses long keys with an error.
      if (!isPersonName(name)) return undefined
      return mapped(await table.get({ key: keyOfName(name) }, isNewest), toPerson)
    },

    create: async (person, entries) => recordIf(await store.create(person), record, ...entries),

    async replace(before, after, entries) {
      const lost = ownershipsLost(before, after)
      if (await hasLast(before, lost)) return 'last owner'
      if (!(await store.replace(before, after))) return 'overtaken'
      if (await hasLast(before, lost)) {
        await takeBack(before, after)
        return 'last owner'
      }
      await recordIf(true, record, ...entries)
      return 'done'
    },

    listOfEmail: store.listOfEmail,
    listOfSite: store.listOfSite,

    async leaveSite(site) {
      const left = await store.listOfSite(site)
      for (const person of left) {
        if (!(await store.replace(person, withoutSite(person, site)))) throw new ServiceError('unavailable')
      }
    },
  }
}
