import type { DatabaseSync } from 'node:sqlite'
import { unlimited } from '../../core/deadline.ts'
import { ServiceError } from '../../core/errors.ts'
import { storedId, type WebFormId } from '../../core/ids.ts'
import type { SystemField, WebForms } from '../../fields/web-forms.ts'
import type { Database } from '../sqlite/database.ts'
import { readPages } from '../sqlite/paging.ts'
import type { RecordChange } from './history.ts'

const toFields = (text: unknown): readonly SystemField[] => JSON.parse(String(text))

const batchSize = 500

const formStatements = (connection: DatabaseSync) => ({
  get: connection.prepare('SELECT name, fields FROM web_forms WHERE site = ? AND id = ?'),
  some: connection.prepare('SELECT id, name FROM web_forms WHERE site = ? AND id > ? ORDER BY id LIMIT +?'),
  whole: connection.prepare('SELECT id, name, fields FROM web_forms WHERE site = ? AND id > ? ORDER BY id LIMIT +?'),
  highest: connection.prepare('SELECT max(id) AS id FROM web_forms WHERE site = ?'),
  insert: connection.prepare(
    'INSERT INTO web_forms (site, id, name, fields) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  ),
  rename: connection.prepare('UPDATE web_forms SET name = ? WHERE site = ? AND id = ?'),
  remove: connection.prepare('DELETE FROM web_forms WHERE site = ? AND id = ?'),
  removeSome: connection.prepare(
    'DELETE FROM web_forms WHERE rowid IN (SELECT rowid FROM web_forms WHERE site = ? LIMIT +?)',
  ),
  putFields: connection.prepare('UPDATE web_forms SET fields = ? WHERE site = ? AND id = ?'),
})

export const createWebForms = ({ connection, read, write }: Database, record: RecordChange): WebForms => {
  const statements = formStatements(connection)

  return {
    async get(site, id) {
      const row = await read(() => statements.get.get(site, id))
      return row && { site, id, name: String(row['name']), fields: toFields(row['fields']) }
    },

    list: (site) =>
      readPages(
        Number.MIN_SAFE_INTEGER,
        Number.POSITIVE_INFINITY,
        (after, limit) =>
          read(() =>
            statements.some
              .all(site, after, limit)
              .map(({ id, name }) => ({ id: storedId<WebFormId>(id), name: String(name) })),
          ),
        ({ id }): number => id,
      ),

    listWhole: (site, after, limit) =>
      readPages(
        after,
        limit,
        (last, wanted) =>
          read(() =>
            statements.whole.all(site, last, wanted).map(({ id, name, fields }) => ({
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
        if (statements.insert.run(site, id, name, JSON.stringify(fields)).changes === 0) return false
        record(entry)
        return true
      }),

    rename: (site, id, name, entry) =>
      write(() => {
        const row = statements.get.get(site, id)
        if (!row) throw new ServiceError('webFormUnknown')
        if (row['name'] === name) return
        statements.rename.run(name, site, id)
        record(entry)
      }),

    highestId: (site) => read(() => Number(statements.highest.get(site)?.['id'] ?? 0)),

    changeFields: (site, id, apply, entry, deadline = unlimited) =>
      write(() => {
        deadline.check()
        const row = statements.get.get(site, id)
        if (!row) throw new ServiceError('webFormUnknown')
        const before = toFields(row['fields'])
        const fields = apply(before)
        if (fields === before) return
        statements.putFields.run(JSON.stringify(fields), site, id)
        record(entry)
      }),

    remove: (site, id, entry) =>
      write(() => {
        if (statements.remove.run(site, id).changes === 0) return false
        record(entry)
        return true
      }),

    async clear(site) {
      while ((await write(() => statements.removeSome.run(site, batchSize).changes)) === batchSize);
    },
  }
}
