import { isDeepStrictEqual } from 'node:util'
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
import { ServiceError } from '../../core/errors.ts'
import { type SiteId, storedId } from '../../core/ids.ts'
import { compareText } from '../../core/names.ts'
import { expression, mapped, openTable, scan } from './dynamodb.ts'
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
