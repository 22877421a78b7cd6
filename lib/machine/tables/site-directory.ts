import type { DataCentre, Site, SiteDirectory } from '../../sites/site-directory.ts'
import type { Database } from '../sqlite/database.ts'
import { type Flag, prepare, readPages } from '../sqlite/queries.ts'
import { type RecordChange, recordIf } from './history.ts'

interface SiteRow extends Omit<Site, 'renderingEngine'> {
  readonly renderingEngine: Flag
}

const toSite = (row: SiteRow): Site => ({ ...row, renderingEngine: row.renderingEngine === 1 })

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
  const someSites = 'SELECT id, name, data_centre AS dataCentre, rendering_engine AS renderingEngine FROM sites'
  const site = prepare<SiteRow>(connection, `${someSites} WHERE id = ?`)
  const sites = prepare<SiteRow>(connection, `${someSites} WHERE id > ? ORDER BY id LIMIT +?`)
  const insertSite = connection.prepare(
    'INSERT INTO sites (id, name, data_centre, rendering_engine) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const rename = connection.prepare('UPDATE sites SET name = ? WHERE id = ?')
  const remove = connection.prepare('DELETE FROM sites WHERE id = ?')
  const someDataCentres = 'SELECT id, url, is_default AS isDefault, region FROM data_centres'
  const dataCentre = prepare<DataCentreRow>(connection, `${someDataCentres} WHERE id = ?`)
  const dataCentres = prepare<DataCentreRow>(connection, `${someDataCentres} ORDER BY id`)
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
      write(() => recordIf(insertSite.run(id, name, home, renderingEngine ? 1 : 0).changes === 1, record, entry)),

    renameSite: (id, name, entry) =>
      write(() => {
        const row = site.get(id)
        if (!row) return false
        if (row.name === name) return true
        rename.run(name, id)
        record(entry)
        return true
      }),

    removeSite: (id, entry) => write(() => recordIf(remove.run(id).changes === 1, record, entry)),

    async putDataCentre({ id, url, isDefault, region }) {
      await write(() => putDataCentre.run(id, url, isDefault ? 1 : 0, region ?? null))
    },

    async list() {
      const found = await readPages(database, {
        after: Number.MIN_SAFE_INTEGER,
        query: (after, limit) => sites.all(after, limit).map(toSite),
        keyOf: ({ id }): number => id,
      })
      return { sites: found, dataCentres: await read(() => dataCentres.all().map(toDataCentre)) }
    },
  }
}
