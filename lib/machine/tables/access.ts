import { noTrust, type Trust } from '../../access/issuers/issuers.ts'
import {
  keyOfName,
  ownershipsLost,
  type People,
  type Person,
  requireOtherOwners,
  withoutSite,
} from '../../access/people.ts'
import { type Attempts, countAttempt, type SignInAttempts } from '../../access/sign-in-limits.ts'
import type { SiteId } from '../../core/ids.ts'
import type { Clock } from '../../core/time.ts'
import type { Stores } from '../../service/stores.ts'
import type { Database } from '../sqlite/database.ts'
import { all, one, prepareAll, readPages, value } from '../sqlite/queries.ts'
import { type RecordChange, recordIf } from './history.ts'

const toPerson = ({ version, record }: Pick<Person, 'version'> & { readonly record: string }): Person => ({
  ...JSON.parse(record),
  version,
})

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
  const allOf = (...sites: readonly SiteId[]) => (sites.length === 0 ? [] : people.ofSites(sites.map(String), '', -1))
  const store = ({ name, version }: Person, after: Person | undefined) => {
    if (after) people.replace(recordOf(after), keyOfName(name), version)
    else people.remove(keyOfName(name), version)
  }

  return {
    get: (name) => read(() => people.get(keyOfName(name))),

    create: (person, entries) =>
      write(() => recordIf(people.insert(keyOfName(person.name), recordOf(person)) === 1, record, ...entries)),

    replace: (before, after, entries) =>
      write(() => {
        const stored = people.get(keyOfName(before.name))
        if (stored?.version !== before.version || stored.created !== before.created) return false
        requireOtherOwners(allOf(...ownershipsLost(before, after)), before, after)
        store(before, after)
        return recordIf(true, record, ...entries)
      }),

    listOfEmail: (email) => read(() => people.ofEmail(email)),

    leaveSite: (site) =>
      write(() => {
        for (const person of allOf(site)) store(person, withoutSite(person, site))
      }),

    listOfSites: (...sites) => readPages(read, people.ofSites, [sites.map(String), ''], ({ name }) => keyOfName(name)),
  }
}

const trustKey = 'issuers'

type AccessValues = Pick<Stores, 'issuers' | 'accessValues'>

export const createAccessValues = (database: Database, record: RecordChange, clock: Clock): AccessValues => {
  const { connection, read, write } = database
  const tables = prepareAll(connection, {
    get: one(
      'SELECT value FROM access_values WHERE key = ?1 AND (expires IS NULL OR expires > ?2)',
      ({ value }: { readonly value: string }) => JSON.parse(value),
    ),
    put: 'INSERT OR REPLACE INTO access_values (key, value, expires) VALUES (?, ?, ?)',
    remove: 'DELETE FROM access_values WHERE key = ?',
  })
  const now = () => clock.wall() / 1000
  const find = (key: string): string | undefined => tables.get(key, now())
  const trust = (): Trust => tables.get(trustKey, now()) ?? noTrust
  const put = (key: string, value: string | Trust, expires: number | null) =>
    tables.put(key, JSON.stringify(value), expires)

  return {
    issuers: {
      trust: () => read(trust),

      changeTrust: (change, entries) =>
        write(() => void recordIf(put(trustKey, change(trust()), null), record, ...entries)),
    },

    accessValues: {
      get: (key) => read(() => find(key)),

      put: (key, value, expires) =>
        write(() => {
          const known = find(key)
          if (known !== undefined) return known === value
          put(key, value, expires ?? null)
          return true
        }),

      take: (key) =>
        write(() => {
          const value = find(key)
          tables.remove(key)
          return value
        }),
    },
  }
}

export const createSignInAttempts = ({ connection, note }: Database, { wall }: Clock): SignInAttempts => {
  const { get, put, forgive } = prepareAll(connection, {
    get: one<Attempts>('SELECT failures, waits, until, expires FROM sign_ins WHERE key = ?'),
    put: 'INSERT OR REPLACE INTO sign_ins (key, failures, waits, until, expires) VALUES (?, ?, ?, ?, ?)',
    forgive: 'UPDATE sign_ins SET failures = failures - 1 WHERE key = ? AND failures > 0',
  })

  return {
    count: (limit) =>
      note(() => {
        const { attempts, wait } = countAttempt(get(limit.key), limit, wall())
        put(limit.key, attempts.failures, attempts.waits, attempts.until, attempts.expires)
        return wait
      }),

    forgive: ({ key }) => note(() => void forgive(key)),
  }
}

const secretName = 'downloads'

/** Random bytes that sign the download links of this directory. They are created when they are first needed. */
export const openLinkSecret = async ({ connection, read, write }: Database): Promise<Uint8Array> => {
  const { get, keepFirst } = prepareAll(connection, {
    get: value<Uint8Array>('SELECT bytes FROM secrets WHERE name = ?'),
    keepFirst: value<Uint8Array>(`INSERT INTO secrets (name, bytes) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET bytes = bytes RETURNING bytes`),
  })
  const made = crypto.getRandomValues(new Uint8Array(32))
  return (await read(() => get(secretName))) ?? (await write(() => keepFirst(secretName, made))) ?? made
}
