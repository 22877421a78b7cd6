import { type Grant, type Grants, isGrantOfKey, storedGrant } from '../../access/grants.ts'
import type { DataCentre, Site, SiteDirectory } from '../../sites/site-directory.ts'
import type { Database } from '../sqlite/database.ts'
import { usedBytesOf } from '../sqlite/derived-rows.ts'
import { type Flag, prepareAll, query, readPages } from '../sqlite/queries.ts'
import { type RecordChange, recordIf } from './history.ts'

interface SiteRow extends Omit<Site, 'renderingEngine' | 'quota'> {
  readonly renderingEngine: Flag
  readonly quota: number | null
}

const toSite = ({ quota, ...row }: SiteRow): Site => ({
  ...row,
  renderingEngine: row.renderingEngine === 1,
  ...(quota !== null && { quota }),
})

interface DataCentreRow extends Pick<DataCentre, 'id' | 'url'> {
  readonly isDefault: Flag
  readonly region: string | null
}

const toDataCentre = ({ id, url, isDefault, region }: DataCentreRow): DataCentre => ({
  id,
  url,
  isDefault: isDefault === 1,
  ...(region !== null && { region }),
})

export const createSiteDirectory = (database: Database, record: RecordChange): SiteDirectory => {
  const { connection, read, write } = database
  const ofSite = 'id, name, data_centre AS dataCentre, rendering_engine AS renderingEngine, quota'
  const ofDataCentre = 'id, url, is_default AS isDefault, region'
  const tables = prepareAll(connection, {
    site: query<SiteRow>(`SELECT ${ofSite} FROM sites WHERE id = ?`),
    sites: query<SiteRow>(`SELECT ${ofSite} FROM sites WHERE id > ? ORDER BY id LIMIT +?`),
    dataCentre: query<DataCentreRow>(`SELECT ${ofDataCentre} FROM data_centres WHERE id = ?`),
    dataCentres: query<DataCentreRow>(`SELECT ${ofDataCentre} FROM data_centres ORDER BY id`),
    insertSite:
      'INSERT INTO sites (id, name, data_centre, rendering_engine) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    renameSite: 'UPDATE sites SET name = ? WHERE id = ?',
    setQuota: `UPDATE sites SET quota = ?2, used = iif(?2 IS NULL, NULL, ${usedBytesOf('sites.id')}) WHERE id = ?1`,
    removeSite: 'DELETE FROM sites WHERE id = ?',
    putDataCentre: 'INSERT OR REPLACE INTO data_centres (id, url, is_default, region) VALUES (?, ?, ?, ?)',
  })

  return {
    async getSite(id) {
      const row = await read(() => tables.site.get(id))
      return row && toSite(row)
    },

    async getDataCentre(id) {
      const row = await read(() => tables.dataCentre.get(id))
      return row && toDataCentre(row)
    },

    createSite: ({ id, name, dataCentre: home, renderingEngine, quota }, entry) =>
      write(() => {
        if (tables.insertSite.run(id, name, home, renderingEngine ? 1 : 0).changes === 0) return false
        if (quota !== undefined) tables.setQuota.run(id, quota)
        record(entry)
        return true
      }),

    renameSite: (id, name, entry) =>
      write(() => {
        const row = tables.site.get(id)
        if (!row) return false
        if (row.name === name) return true
        tables.renameSite.run(name, id)
        record(entry)
        return true
      }),

    setQuota: (id, quota, entry) =>
      write(() => {
        const row = tables.site.get(id)
        if (!row) return false
        if (row.quota === (quota ?? null)) return true
        tables.setQuota.run(id, quota ?? null)
        record(entry)
        return true
      }),

    removeSite: (id, entry) => write(() => recordIf(tables.removeSite.run(id).changes === 1, record, entry)),

    async putDataCentre({ id, url, isDefault, region }) {
      await write(() => tables.putDataCentre.run(id, url, isDefault ? 1 : 0, region ?? null))
    },

    async list() {
      const found = await readPages(database, {
        after: Number.MIN_SAFE_INTEGER,
        query: (after, limit) => tables.sites.all(after, limit).map(toSite),
        keyOf: ({ id }): number => id,
      })
      return { sites: found, dataCentres: await read(() => tables.dataCentres.all().map(toDataCentre)) }
    },
  }
}

interface GrantRow extends Pick<Grant, 'hash' | 'user' | 'expires'> {
  readonly sites: string
  readonly permissions: string
  readonly kind: string | null
  readonly since: number | null
  readonly name: string | null
  readonly parent: string | null
  readonly lastUsed: string | null
}

const toGrant = (row: GrantRow): Grant =>
  storedGrant({ ...row, sites: JSON.parse(row.sites), permissions: JSON.parse(row.permissions) })

export const createGrants = (database: Database, record: RecordChange): Grants => {
  const { connection, read, write } = database
  const columns = 'hash, user, sites, permissions, expires, kind, since, name, parent'
  const { get, some, keysOf, put, remove, setSites, handOver, recordUse } = prepareAll(connection, {
    get: query<GrantRow>('SELECT * FROM grants WHERE hash = ?'),
    some: query<GrantRow>('SELECT * FROM grants WHERE hash > ? ORDER BY hash LIMIT +?'),
    keysOf: query<GrantRow>(
      `SELECT ${columns}, last_used AS lastUsed FROM grants WHERE kind = 'key' AND sites = ?2 AND hash > ?1
       ORDER BY hash LIMIT +?3`,
    ),
    put: `INSERT OR REPLACE INTO grants (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    remove: 'DELETE FROM grants WHERE hash = ?',
    setSites: 'UPDATE grants SET sites = ? WHERE hash = ?',
    handOver: "UPDATE grants SET user = ?, since = ? WHERE hash = ? AND kind = 'key'",
    recordUse: 'UPDATE grants SET last_used = ?2 WHERE hash = ?1 AND (last_used IS NULL OR last_used < ?2)',
  })

  return {
    async get(hash) {
      const row = await read(() => get.get(hash))
      return row && toGrant(row)
    },

    put: ({ hash, user, sites, permissions, expires, kind, since, name, parent }, entries) =>
      write(() => {
        const optional = [kind, since, name, parent].map((value) => value ?? null)
        put.run(hash, user, JSON.stringify(sites), JSON.stringify(permissions), expires, ...optional)
        entries.forEach(record)
      }),

    remove: (hash, entries) =>
      write(() => {
        if (remove.run(hash).changes === 0) return false
        entries.forEach(record)
        return true
      }),

    uncover: (hash, site, entry) =>
      write(() => {
        const row = get.get(hash)
        const grant = row && toGrant(row)
        if (!grant?.sites.includes(site)) return false
        const others = grant.sites.filter((other) => other !== site)
        if (others.length > 0) setSites.run(JSON.stringify(others), hash)
        else remove.run(hash)
        record(entry)
        return true
      }),

    async *list() {
      yield* await readPages(database, {
        after: '',
        query: (after, limit) => some.all(after, limit).map(toGrant),
        keyOf: ({ hash }) => hash,
      })
    },

    async keysOf(site) {
      const rows = await readPages(database, {
        after: '',
        query: (after, limit) => keysOf.all(after, JSON.stringify([site]), limit),
        keyOf: ({ hash }) => hash,
      })
      return rows.flatMap((row) => {
        const grant = toGrant(row)
        return isGrantOfKey(grant) ? [{ ...grant, ...(row.lastUsed !== null && { lastUsed: row.lastUsed }) }] : []
      })
    },

    handOver: (hash, { user, since }, entries) =>
      write(() => {
        if (handOver.run(user, since, hash).changes === 0) return false
        entries.forEach(record)
        return true
      }),

    recordUse: async ({ hash }, day) => {
      await write(() => recordUse.run(hash, day))
    },
  }
}
