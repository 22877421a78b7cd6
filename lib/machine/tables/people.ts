import {
  keyOfName,
  losesLastOwner,
  ownershipsLost,
  type People,
  type Person,
  withoutSite,
} from '../../access/people.ts'
import type { SiteId } from '../../core/ids.ts'
import type { Database } from '../sqlite/database.ts'
import { all, one, prepareAll, readPages } from '../sqlite/queries.ts'
import { type RecordChange, recordIf } from './history.ts'

interface PersonRow {
  readonly key: string
  readonly version: number
  readonly record: string
}

const toPerson = ({ version, record }: PersonRow): Person => ({ ...JSON.parse(record), version })

const recordOf = ({ version: _, ...person }: Person): string => JSON.stringify(person)

export const createPeople = ({ connection, read, write }: Database, record: RecordChange): People => {
  const people = prepareAll(connection, {
    get: one('SELECT * FROM people WHERE key = ?', toPerson),
    ofSites: all(
      `SELECT * FROM people WHERE key > ?2 AND EXISTS (
         SELECT 1 FROM json_each(record, '$.sites') AS site WHERE site.key IN (SELECT value FROM json_each(?1)))
       ORDER BY key LIMIT +?3`,
      toPerson,
    ),
    ofEmail: all("SELECT * FROM people WHERE lower(record ->> 'email') = lower(?)", toPerson),
    insert: 'INSERT INTO people (key, version, record) VALUES (?, 1, ?) ON CONFLICT DO NOTHING',
    replace: 'UPDATE people SET version = version + 1, record = ? WHERE key = ? AND version = ?',
    remove: 'DELETE FROM people WHERE key = ? AND version = ?',
  })
  const listed = (sites: readonly SiteId[]) => JSON.stringify(sites.map(String))
  const allOf = (...sites: readonly SiteId[]) => (sites.length === 0 ? [] : people.ofSites(listed(sites), '', -1))
  const store = ({ name, version }: Person, after: Person | undefined) => {
    if (after) people.replace(recordOf(after), keyOfName(name), version)
    else people.remove(keyOfName(name), version)
  }

  return {
    get: (name) => read(() => people.get(keyOfName(name))),

    create: (person, entries) =>
      write(() => {
        const changes = people.insert(keyOfName(person.name), recordOf(person))
        return recordIf(changes === 1, record, ...entries)
      }),

    replace: (before, after, entries) =>
      write(() => {
        const stored = people.get(keyOfName(before.name))
        if (stored?.version !== before.version || stored.created !== before.created) return 'overtaken'
        if (losesLastOwner(allOf(...ownershipsLost(before, after)), before, after)) return 'last owner'
        store(before, after)
        entries.forEach(record)
        return 'done'
      }),

    listOfEmail: (email) => read(() => people.ofEmail(email)),

    leaveSite: (site) =>
      write(() => {
        for (const person of allOf(site)) store(person, withoutSite(person, site))
      }),

    listOfSites: (...sites) =>
      readPages(read, people.ofSites, { of: [listed(sites)], after: '', keyOf: ({ name }) => keyOfName(name) }),
  }
}
