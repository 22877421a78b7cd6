import type { DatabaseSync } from 'node:sqlite'
import { refuseLate, unlimited } from '../../core/deadline.ts'
import { ServiceError } from '../../core/errors.ts'
import type { SystemField, WebForm, WebFormSummary, WebForms } from '../../fields/web-forms.ts'
import type { Database } from '../sqlite/database.ts'
import { prepare, readPages } from '../sqlite/queries.ts'
import { type RecordChange, recordIf } from './history.ts'

/** Fields are JSON. */
interface FormRow extends Pick<WebForm, 'site' | 'id' | 'name'> {
  readonly fields: string
}

const toFields = (text: string): readonly SystemField[] => JSON.parse(text)

const toForm = ({ site, id, name, fields }: FormRow): WebForm => ({ site, id, name, fields: toFields(fields) })

const idOf = ({ id }: WebFormSummary): number => id

const batchSize = 500

const formStatements = (connection: DatabaseSync) => ({
  get: prepare<FormRow>(connection, 'SELECT * FROM web_forms WHERE site = ? AND id = ?'),
  some: prepare<WebFormSummary>(
    connection,
    'SELECT id, name FROM web_forms WHERE site = ? AND id > ? ORDER BY id LIMIT +?',
  ),
  whole: prepare<FormRow>(connection, 'SELECT * FROM web_forms WHERE site = ? AND id > ? ORDER BY id LIMIT +?'),
  highest: prepare<{ id: number | null }>(connection, 'SELECT max(id) AS id FROM web_forms WHERE site = ?'),
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

export const createWebForms = (database: Database, record: RecordChange): WebForms => {
  const { connection, read, write } = database
  const statements = formStatements(connection)

  return {
    async get(site, id) {
      const row = await read(() => statements.get.get(site, id))
      return row && toForm(row)
    },

    list: (site) =>
      readPages(database, {
        after: Number.MIN_SAFE_INTEGER,
        query: (after, limit) => statements.some.all(site, after, limit),
        keyOf: idOf,
      }),

    listWhole: (site, after, limit) =>
      readPages(database, {
        after,
        limit,
        query: (last, some) => statements.whole.all(site, last, some).map(toForm),
        keyOf: idOf,
      }),

    create: ({ site, id, name, fields }, entry) =>
      write(() => {
        const isNew = statements.insert.run(site, id, name, JSON.stringify(fields)).changes === 1
        return recordIf(isNew, record, entry)
      }),

    rename: (site, id, name, entry) =>
      write(() => {
        const row = statements.get.get(site, id)
        if (!row) throw new ServiceError('webFormUnknown')
        if (row.name === name) return
        statements.rename.run(name, site, id)
        record(entry)
      }),

    highestId: (site) => read(() => statements.highest.get(site)?.id ?? 0),

    changeFields: (site, id, apply, entry, remainingTime = unlimited) =>
      write(() => {
        refuseLate(remainingTime)
        const row = statements.get.get(site, id)
        if (!row) throw new ServiceError('webFormUnknown')
        const before = toFields(row.fields)
        const fields = apply(before)
        if (fields === before) return
        statements.putFields.run(JSON.stringify(fields), site, id)
        record(entry)
      }),

    remove: (site, id, entry) => write(() => recordIf(statements.remove.run(site, id).changes === 1, record, entry)),

    async clear(site) {
      while ((await write(() => statements.removeSome.run(site, batchSize).changes)) === batchSize);
    },
  }
}
