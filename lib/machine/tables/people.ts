import { hasOtherOwner, keyOfName, ownershipsLost, type People, type Person, withoutSite } from '../../access/people.ts'
import type { SiteId } from '../../core/ids.ts'
import type { Database } from '../sqlite/database.ts'
import { prepareAll, query, readPages } from '../sqlite/queries.ts'
import type { RecordChange } from './history.ts'

interface PersonRow {
  readonly key: string
  readonly version: number
  readonly record: string
}

const toPerson = ({ version, record }: PersonRow): Person => ({ ...JSON.parse(record), version })

const recordOf = ({ version: _, ...person }: Person): string => JSON.stringify(person)

export const createPeople = (database: Database, record: RecordChange): People => {
  const { connection, read, write } = database
  const people = prepareAll(connection, {
    get: query<PersonRow>('SELECT * FROM people WHERE key = ?'),
    some: query<PersonRow>(
      `SELECT * FROM people WHERE key > ?1 AND json_type(record, '$.sites."' || ?2 || '"') IS NOT NULL
       ORDER BY key LIMIT +?3`,
    ),
    ofEmail: query<PersonRow>("SELECT * FROM people WHERE lower(record ->> 'email') = lower(?)"),
    insert: 'INSERT INTO people (key, version, record) VALUES (?, 1, ?) ON CONFLICT DO NOTHING',
    replace: 'UPDATE people SET version = version + 1, record = ? WHERE key = ? AND version = ?',
    remove: 'DELETE FROM people WHERE key = ? AND version = ?',
  })
  const ofSite = (after: string, site: SiteId, limit: number) =>
    people.some.all(after, String(site), limit).map(toPerson)

  return {
    async get(name) {
      const row = await read(() => people.get.get(keyOfName(name)))
      return row && toPerson(row)
    },

    create: (person, entries) =>
      write(() => {
        if (people.insert.run(keyOfName(person.name), recordOf(person)).changes === 0) return false
        entries.forEach(record)
        return true
      }),

    replace: (before, after, entries) =>
      write(() => {
        const lost = ownershipsLost(before, after)
        const isLast = (site: SiteId) => !hasOtherOwner(ofSite('', site, -1), site, before)
        const key = keyOfName(before.name)
        const stored = people.get.get(key)
        if (stored?.version !== before.version || toPerson(stored).created !== before.created) return 'overtaken'
        if (lost.some(isLast)) return 'last owner'
        if (after) people.replace.run(recordOf(after), key, before.version)
        else people.remove.run(key, before.version)
        entries.forEach(record)
        return 'done'
      }),

    listOfEmail: (email) => read(() => people.ofEmail.all(email).map(toPerson)),

    leaveSite: (site) =>
      write(() => {
        for (const person of ofSite('', site, -1)) {
          people.replace.run(recordOf(withoutSite(person, site)), keyOfName(person.name), person.version)
        }
      }),

    listOfSite: (site) =>
      readPages(database, {
        after: '',
        query: (after, limit) => ofSite(after, site, limit),
        keyOf: ({ name }) => keyOfName(name),
      }),
  }
}
