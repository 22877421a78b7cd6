import { unlimited } from '../../core/deadline.ts'
import { ServiceError } from '../../core/errors.ts'
import type { SystemField, WebForm, WebFormSummary, WebForms } from '../../fields/web-forms.ts'
import type { Database } from '../sqlite/database.ts'
import { type AnyId, prepareAll, query, readPages } from '../sqlite/queries.ts'
import { type RecordChange, recordIf } from './history.ts'

interface FormRow extends Pick<WebForm, 'site' | 'id' | 'name'> {
  readonly fields: string
}

const toFields = (text: string): readonly SystemField[] => JSON.parse(text)

const toForm = ({ site, id, name, fields }: FormRow): WebForm => ({ site, id, name, fields: toFields(fields) })

const idOf = ({ id }: WebFormSummary): number => id

const batchSize = 500

export const createWebForms = (database: Database, record: RecordChange): WebForms => {
  const { connection, read, write } = database
  const forms = prepareAll(connection, {
    get: query<FormRow>('SELECT * FROM web_forms WHERE site = ? AND id = ?'),
    some: query<WebFormSummary>('SELECT id, name FROM web_forms WHERE site = ? AND id > ? ORDER BY id LIMIT +?'),
    whole: query<FormRow>('SELECT * FROM web_forms WHERE site = ? AND id > ? ORDER BY id LIMIT +?'),
    highest: query<AnyId>('SELECT max(id) AS id FROM web_forms WHERE site = ?'),
    insert: 'INSERT INTO web_forms (site, id, name, fields) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    rename: 'UPDATE web_forms SET name = ? WHERE site = ? AND id = ?',
    putFields: 'UPDATE web_forms SET fields = ? WHERE site = ? AND id = ?',
    remove: 'DELETE FROM web_forms WHERE site = ? AND id = ?',
    removeSome: 'DELETE FROM web_forms WHERE rowid IN (SELECT rowid FROM web_forms WHERE site = ? LIMIT +?)',
  })

  return {
    async get(site, id) {
      const row = await read(() => forms.get.get(site, id))
      return row && toForm(row)
    },

    list: (site) =>
      readPages(database, {
        after: Number.MIN_SAFE_INTEGER,
        query: (after, limit) => forms.some.all(site, after, limit),
        keyOf: idOf,
      }),

    listWhole: (site, after, limit) =>
      readPages(database, {
        after,
        limit,
        query: (last, some) => forms.whole.all(site, last, some).map(toForm),
        keyOf: idOf,
      }),

    create: ({ site, id, name, fields }, entry) =>
      write(() => {
        const isNew = forms.insert.run(site, id, name, JSON.stringify(fields)).changes === 1
        return recordIf(isNew, record, entry)
      }),

    rename: (site, id, name, entry) =>
      write(() => {
        const row = forms.get.get(site, id)
        if (!row) throw new ServiceError('webFormUnknown')
        if (row.name === name) return
        forms.rename.run(name, site, id)
        record(entry)
      }),

    highestId: (site) => read(() => forms.highest.get(site)?.id ?? 0),

    changeFields: (site, id, apply, entry, deadline = unlimited) =>
      write(() => {
        deadline.check()
        const row = forms.get.get(site, id)
        if (!row) throw new ServiceError('webFormUnknown')
        const before = toFields(row.fields)
        const fields = apply(before)
        if (fields === before) return
        forms.putFields.run(JSON.stringify(fields), site, id)
        record(entry)
      }),

    remove: (site, id, entry) => write(() => recordIf(forms.remove.run(site, id).changes === 1, record, entry)),

    async clear(site) {
      while ((await write(() => forms.removeSome.run(site, batchSize).changes)) === batchSize);
    },
  }
}
