import { ServiceError } from '../../core/errors.ts'
import { storedId, type WebFormId } from '../../core/ids.ts'
import { refuseLate, unlimited } from '../../core/remaining-time.ts'
import type { SystemField, WebForms } from '../../fields/web-forms.ts'
import type { Database } from '../sqlite/database.ts'
import { readPages } from '../sqlite/paging.ts'
import type { RecordChange } from './history.ts'

const toFields = (text: unknown): readonly SystemField[] => JSON.parse(String(text))

/** How many forms go in one transaction. */
const slice = 500

/** The web forms of the sites, on one machine: each with its fields in one row. */
export const createWebForms = ({ connection, read, write }: Database, record: RecordChange): WebForms => {
  const get = connection.prepare('SELECT name, fields FROM web_forms WHERE site = ? AND id = ?')
  const some = connection.prepare('SELECT id, name FROM web_forms WHERE site = ? AND id > ? ORDER BY id LIMIT +?')
  const whole = connection.prepare(
    'SELECT id, name, fields FROM web_forms WHERE site = ? AND id > ? ORDER BY id LIMIT +?',
  )
  const highest = connection.prepare('SELECT max(id) AS id FROM web_forms WHERE site = ?')
  const insert = connection.prepare(
    'INSERT INTO web_forms (site, id, name, fields) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const rename = connection.prepare('UPDATE web_forms SET name = ? WHERE site = ? AND id = ?')
  const remove = connection.prepare('DELETE FROM web_forms WHERE site = ? AND id = ?')
  const removeSome = connection.prepare(
    'DELETE FROM web_forms WHERE rowid IN (SELECT rowid FROM web_forms WHERE site = ? LIMIT +?)',
  )
  const putFields = connection.prepare('UPDATE web_forms SET fields = ? WHERE site = ? AND id = ?')

  return {
    async get(site, id) {
      const row = await read(() => get.get(site, id))
      return row && { site, id, name: String(row['name']), fields: toFields(row['fields']) }
    },

    list: (site) =>
      readPages(
        Number.MIN_SAFE_INTEGER,
        Number.POSITIVE_INFINITY,
        (after, limit) =>
          read(() =>
            some.all(site, after, limit).map(({ id, name }) => ({ id: storedId<WebFormId>(id), name: String(name) })),
          ),
        ({ id }): number => id,
      ),

    listWhole: (site, after, limit) =>
      readPages(
        after,
        limit,
        (last, wanted) =>
          read(() =>
            whole.all(site, last, wanted).map(({ id, name, fields }) => ({
              site,
              id: storedId<WebFormId>(id),
              name: String(name),
              fields: toFields(fields),
            })),
          ),
        ({ id }): number => id,
      ),

    create: ({ site, id, name, fields }, entry) =>
      write(() => {
        if (insert.run(site, id, name, JSON.stringify(fields)).changes === 0) return false
        record(entry)
        return true
      }),

    rename: (site, id, name, entry) =>
      write(() => {
        const row = get.get(site, id)
        if (!row) throw new ServiceError('webFormUnknown')
        if (row['name'] === name) return
        rename.run(name, site, id)
        record(entry)
      }),

    highestId: (site) => read(() => Number(highest.get(site)?.['id'] ?? 0)),

    changeFields: (site, id, apply, entry, remainingTime = unlimited) =>
      write(() => {
        refuseLate(remainingTime)
        const row = get.get(site, id)
        if (!row) throw new ServiceError('webFormUnknown')
        const before = toFields(row['fields'])
        const fields = apply(before)
        if (fields === before) return
        putFields.run(JSON.stringify(fields), site, id)
        record(entry)
      }),

    remove: (site, id, entry) =>
      write(() => {
        if (remove.run(site, id).changes === 0) return false
        record(entry)
        return true
      }),

    async clear(site) {
      while ((await write(() => removeSome.run(site, slice).changes)) === slice);
    },
  }
}
