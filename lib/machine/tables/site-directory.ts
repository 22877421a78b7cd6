import type { SQLOutputValue } from 'node:sqlite'
import { storedId } from '../../core/ids.ts'
import type { DataCentre, Site, SiteDirectory } from '../../sites/site-directory.ts'
import type { Database } from '../sqlite/database.ts'
import { readPages } from '../sqlite/paging.ts'
import type { RecordChange } from './history.ts'

type Row = Record<string, SQLOutputValue>

const toSite = (row: Row): Site => ({
  id: storedId(row['id']),
  name: String(row['name']),
  dataCentre: String(row['data_centre']),
  renderingEngine: row['rendering_engine'] === 1,
})

const toDataCentre = (row: Row): DataCentre => ({
  id: String(row['id']),
  url: String(row['url']),
  isDefault: row['is_default'] === 1,
  ...(row['region'] !== null && { region: String(row['region']) }),
})

export const createSiteDirectory = ({ connection, read, write }: Database, record: RecordChange): SiteDirectory => {
  const site = connection.prepare('SELECT * FROM sites WHERE id = ?')
  const sites = connection.prepare('SELECT * FROM sites WHERE id > ? ORDER BY id LIMIT +?')
  const insertSite = connection.prepare(
    'INSERT INTO sites (id, name, data_centre, rendering_engine) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const rename = connection.prepare('UPDATE sites SET name = ? WHERE id = ?')
  const remove = connection.prepare('DELETE FROM sites WHERE id = ?')
  const dataCentre = connection.prepare('SELECT * FROM data_centres WHERE id = ?')
  const dataCentres = connection.prepare('SELECT * FROM data_centres ORDER BY id')
  const putDataCentre = connection.prepare(
    'INSERT OR REPLACE INTO data_centres (id, url, is_default, region) VALUES (?, ?, ?, ?)',
  )

  return {
    async getSite(id) {
      const row = await read(() => site.get(id))
      return row && toSite(row)
    },

    async getDataCentre(id) {
      const row = await read(() => dataCentre.get(id))
      return row && toDataCentre(row)
    },

    createSite: ({ id, name, dataCentre: home, renderingEngine }, entry) =>
      write(() => {
        if (insertSite.run(id, name, home, renderingEngine ? 1 : 0).changes === 0) return false
        record(entry)
        return true
      }),

    renameSite: (id, name, entry) =>
      write(() => {
        const row = site.get(id)
        if (!row) return false
        if (row['name'] === name) return true
        rename.run(name, id)
        record(entry)
        return true
      }),

    removeSite: (id, entry) =>
      write(() => {
        if (remove.run(id).changes === 0) return false
        record(entry)
        return true
      }),

    async putDataCentre({ id, url, isDefault, region }) {
      await write(() => putDataCentre.run(id, url, isDefault ? 1 : 0, region ?? null))
    },

    async list() {
      const first = Number.MIN_SAFE_INTEGER
      const found = await readPages(
        first,
        Number.POSITIVE_INFINITY,
        (after, limit) => read(() => sites.all(after, limit).map(toSite)),
        ({ id }): number => id,
      )
      return { sites: found, dataCentres: await read(() => dataCentres.all().map(toDataCentre)) }
    },
  }
}
