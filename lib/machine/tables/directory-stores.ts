import type { DatabaseSync } from 'node:sqlite'
import { type Grant, type Grants, isGrantOfKey } from '../../access/grants.ts'
import type { HistoryEntry } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import type { DataCentre, Site, SiteDirectory } from '../../sites/site-directory.ts'
import { quotaExceeded, type SiteUsage } from '../../storage/quota.ts'
import type { Database } from '../sqlite/database.ts'
import { usedBytesOf } from '../sqlite/derived-rows.ts'
import { all, type Flag, one, prepareAll, type RowOf, readPages, withoutNulls } from '../sqlite/queries.ts'
import { type RecordChange, recordIf } from './history.ts'

/**
 * Makes a change in the transaction of the caller. Errors: quotaExceeded, when the change adds bytes beyond the quota
 * (S-121).
 */
export const createQuotaCheck = (connection: DatabaseSync) => {
  const limited = one<{ quota: number; used: number }>(
    'SELECT quota, used FROM sites WHERE id = ? AND quota IS NOT NULL',
  )(connection)
  return <Result>(site: SiteId, change: () => Result): Result => {
    const before = limited(site)
    const result = change()
    const after = before && limited(site)
    if (after && after.used > after.quota && after.used > before.used) throw quotaExceeded(after.quota, before.used)
    return result
  }
}

export const createSiteUsage = ({ connection, read, write }: Database): SiteUsage => {
  const used = one<{ bytes: number }>(`SELECT ${usedBytesOf('sites.id')} AS bytes FROM sites WHERE id = ?`)(connection)
  const expireUploads = connection.prepare('UPDATE uploads SET complete = 1, expires = 0 WHERE site = ?')
  return {
    bytesOf: (site) => read(() => used(site)?.bytes),
    // The transaction that sets the quota also counts the used bytes.
    prepare: async () => {},
    clear: (site) => write(() => void expireUploads.run(site)),
  }
}

const toSite = ({ renderingEngine, ...row }: RowOf<Site, { renderingEngine: Flag }>): Site => ({
  ...withoutNulls(row),
  renderingEngine: renderingEngine === 1,
})

const toDataCentre = ({ isDefault, ...row }: RowOf<DataCentre, { isDefault: Flag }>): DataCentre => ({
  ...withoutNulls(row),
  isDefault: isDefault === 1,
})

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
        const isNew = tables.insertSite(id, name, home, renderingEngine ? 1 : 0) === 1
        if (isNew && quota !== undefined) tables.setQuota(id, quota)
        return recordIf(isNew, record, entry)
      }),

    renameSite: (id, name, entry) => changeSite(id, (site) => site.name !== name && tables.renameSite(name, id), entry),

    setQuota: (id, quota, entry) =>
      changeSite(id, (site) => site.quota !== quota && tables.setQuota(id, quota ?? null), entry),

    removeSite: (id, entry) => write(() => recordIf(tables.removeSite(id) === 1, record, entry)),

    putDataCentre: ({ id, url, isDefault, region }) =>
      write(() => void tables.putDataCentre(id, url, isDefault ? 1 : 0, region ?? null)),

    async list() {
      const pages = { after: Number.MIN_SAFE_INTEGER, keyOf: ({ id }: Site): number => id }
      const sites = await readPages(read, tables.sites, pages)
      return { sites, dataCentres: await read(() => tables.dataCentres()) }
    },
  }
}

const toGrant = ({ sites, permissions, ...row }: RowOf<Grant, { sites: string; permissions: string }>): Grant => ({
  ...withoutNulls(row),
  sites: JSON.parse(sites),
  permissions: JSON.parse(permissions),
})

const hashOf = ({ hash }: Grant): string => hash

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
        const optional = [kind, since, name, parent].map((value) => value ?? null)
        put(hash, user, JSON.stringify(sites), JSON.stringify(permissions), expires, ...optional)
        entries.forEach(record)
      }),

    remove: (hash, entries) => write(() => recordIf(remove(hash) === 1, record, ...entries)),

    change: (hash, change, entries) =>
      write(() => {
        const before = get(hash)
        const after = before && change(before)
        if (!before || after === before) return false
        if (after) update(after.user, JSON.stringify(after.sites), after.since ?? null, hash)
        else remove(hash)
        entries.forEach(record)
        return true
      }),

    list: () => readPages(read, some, { after: '', keyOf: hashOf }),

    async keysOf(site) {
      const pages = { of: [JSON.stringify([site])], after: '', keyOf: hashOf }
      return (await readPages(read, keysOf, pages)).filter(isGrantOfKey)
    },

    recordUse: ({ hash }, day) => write(() => void recordUse(hash, day)),
  }
}
