import type { DatabaseSync } from 'node:sqlite'
import { type Grant, type Grants, isGrantOfKey } from '../../access/grants.ts'
import type { HistoryEntry } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import type { DataCentre, Site, SiteDirectory } from '../../sites/site-directory.ts'
import { quotaExceeded, type SiteUsage } from '../../storage/quota.ts'
import type { Database } from '../sqlite/database.ts'
import { usedBytesOf } from '../sqlite/derived-rows.ts'
import { all, fromRow, idOf, one, prepareAll, readPages, run, value } from '../sqlite/queries.ts'
import { type RecordChange, recordIf } from './history.ts'

/**
 * Makes a change in the transaction of the caller. Errors: quotaExceeded, when the change adds bytes beyond the quota
 * (S-121). Before that, takes expired uploads out of the count. The sweep removes their rows and bytes later.
 */
export const createQuotaCheck = (connection: DatabaseSync, now: () => number) => {
  const limited = one<{ quota: number; used: number }>(
    'SELECT quota, used FROM sites WHERE id = ? AND quota IS NOT NULL',
  )(connection)
  const endExpired = run('UPDATE uploads SET complete = 1 WHERE site = ? AND complete = 0 AND expires <= ?')(connection)
  return <Result>(site: SiteId, change: () => Result): Result => {
    const before = limited(site)
    const result = change()
    const after = before && limited(site)
    if (!after || after.used <= after.quota || after.used <= before.used) return result
    endExpired(site, now())
    const { quota, used } = limited(site) ?? after
    if (used > quota) throw quotaExceeded(quota, used - (after.used - before.used))
    return result
  }
}

export const createSiteUsage = ({ connection, read, write }: Database): SiteUsage => {
  const used = value<number>(`SELECT ${usedBytesOf('sites.id')} FROM sites WHERE id = ?`)(connection)
  const expireUploads = run('UPDATE uploads SET complete = 1, expires = 0 WHERE site = ?')(connection)
  return {
    bytesOf: (site) => read(() => used(site)),
    // The transaction that sets the quota also counts the used bytes.
    prepare: async () => {},
    clear: (site) => write(() => void expireUploads(site)),
  }
}

const toSite = fromRow<Site>({ renderingEngine: Boolean })
const toDataCentre = fromRow<DataCentre>({ isDefault: Boolean })

export const createSiteDirectory = ({ connection, read, write }: Database, record: RecordChange): SiteDirectory => {
  const ofSite = 'id, name, data_centre AS dataCentre, rendering_engine AS renderingEngine, quota'
  const ofDataCentre = 'id, url, is_default AS isDefault, region'
  const tables = prepareAll(connection, {
    site: one(`SELECT ${ofSite} FROM sites WHERE id = ?`, toSite),
    sites: all(`SELECT ${ofSite} FROM sites WHERE id > ? ORDER BY id LIMIT +?`, toSite),
    dataCentre: one(`SELECT ${ofDataCentre} FROM data_centres WHERE id = ?`, toDataCentre),
    dataCentres: all(`SELECT ${ofDataCentre} FROM data_centres ORDER BY id`, toDataCentre),
    insertSite:
      'INSERT INTO sites (id, name, data_centre, rendering_engine) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    renameSite: 'UPDATE sites SET name = ? WHERE id = ?',
    setQuota: `UPDATE sites SET quota = ?2, used = iif(?2 IS NULL, NULL, ${usedBytesOf('sites.id')}) WHERE id = ?1`,
    removeSite: 'DELETE FROM sites WHERE id = ?',
    putDataCentre: 'INSERT OR REPLACE INTO data_centres (id, url, is_default, region) VALUES (?, ?, ?, ?)',
  })

  // Returns false if the site does not exist. `changeIfNew` returns false if the site already is as wanted.
  const changeSite = (id: SiteId, changeIfNew: (site: Site) => unknown, entry: HistoryEntry) =>
    write(() => {
      const site = tables.site(id)
      recordIf(site && changeIfNew(site), record, entry)
      return site !== undefined
    })

  return {
    getSite: (id) => read(() => tables.site(id)),
    getDataCentre: (id) => read(() => tables.dataCentre(id)),

    createSite: ({ id, name, dataCentre: home, renderingEngine, quota }, entry) =>
      write(() => {
        const isNew = tables.insertSite(id, name, home, renderingEngine) === 1
        if (isNew && quota !== undefined) tables.setQuota(id, quota)
        return recordIf(isNew, record, entry)
      }),

    renameSite: (id, name, entry) => changeSite(id, (site) => site.name !== name && tables.renameSite(name, id), entry),

    setQuota: (id, quota, entry) => changeSite(id, (site) => site.quota !== quota && tables.setQuota(id, quota), entry),

    removeSite: (id, entry) => write(() => recordIf(tables.removeSite(id) === 1, record, entry)),

    putDataCentre: ({ id, url, isDefault, region }) =>
      write(() => void tables.putDataCentre(id, url, isDefault, region)),

    async list() {
      const sites = await readPages(read, tables.sites, [Number.MIN_SAFE_INTEGER], idOf)
      return { sites, dataCentres: await read(() => tables.dataCentres()) }
    },
  }
}

const toGrant = fromRow<Grant>({ sites: JSON.parse, permissions: JSON.parse })

export const createGrants = ({ connection, read, write }: Database, record: RecordChange): Grants => {
  const columns = 'hash, user, sites, permissions, expires, kind, since, name, parent'
  const { get, some, keysOf, put, update, remove, recordUse } = prepareAll(connection, {
    get: one(`SELECT ${columns} FROM grants WHERE hash = ?`, toGrant),
    some: all(`SELECT ${columns} FROM grants WHERE hash > ? ORDER BY hash LIMIT +?`, toGrant),
    keysOf: all(
      `SELECT ${columns}, last_used AS lastUsed FROM grants WHERE kind = 'key' AND sites = ? AND hash > ?
       ORDER BY hash LIMIT +?`,
      toGrant,
    ),
    put: `INSERT OR REPLACE INTO grants (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    update: 'UPDATE grants SET user = ?, sites = ?, since = ? WHERE hash = ?',
    remove: 'DELETE FROM grants WHERE hash = ?',
    recordUse: 'UPDATE grants SET last_used = ?2 WHERE hash = ?1 AND (last_used IS NULL OR last_used < ?2)',
  })

  return {
    get: (hash) => read(() => get(hash)),

    put: ({ hash, user, sites, permissions, expires, kind, since, name, parent }, entries) =>
      write(() => {
        put(hash, user, sites, permissions, expires, kind, since, name, parent)
        entries.forEach(record)
      }),

    remove: (hash, entries) => write(() => recordIf(remove(hash) === 1, record, ...entries)),

    change: (hash, change, entries) =>
      write(() => {
        const before = get(hash)
        const after = before && change(before)
        if (!before || after === before) return false
        if (after) update(after.user, after.sites, after.since, hash)
        else remove(hash)
        return recordIf(true, record, ...entries)
      }),

    list: () => readPages(read, some, [''], ({ hash }) => hash),
    keysOf: async (site) => (await readPages(read, keysOf, [[site], ''], ({ hash }) => hash)).filter(isGrantOfKey),

    recordUse: ({ hash }, day) => write(() => void recordUse(hash, day)),
  }
}
