import { ServiceError } from '../../core/errors.ts'
import type { SiteId, WebFormId } from '../../core/ids.ts'
import { unlimited } from '../../core/time.ts'
import type { WebForm, WebFormSummary, WebForms } from '../../fields/web-forms.ts'
import type { Database } from '../sqlite/database.ts'
import { type AnyId, all, one, prepareAll, type RowOf, readPages } from '../sqlite/queries.ts'
import { type RecordChange, recordIf } from './history.ts'

const toForm = ({ fields, ...row }: RowOf<WebForm, { fields: string }>): WebForm => ({
  ...row,
  fields: JSON.parse(fields),
})

const idOf = ({ id }: WebFormSummary): number => id

const batchSize = 500

export const createWebForms = ({ connection, read, write }: Database, record: RecordChange): WebForms => {
  const forms = prepareAll(connection, {
    get: one('SELECT * FROM web_forms WHERE site = ? AND id = ?', toForm),
    some: all<WebFormSummary>('SELECT id, name FROM web_forms WHERE site = ? AND id > ? ORDER BY id LIMIT +?'),
    whole: all('SELECT * FROM web_forms WHERE site = ? AND id > ? ORDER BY id LIMIT +?', toForm),
    highest: one<AnyId>('SELECT max(id) AS id FROM web_forms WHERE site = ?'),
    insert: 'INSERT INTO web_forms (site, id, name, fields) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    rename: 'UPDATE web_forms SET name = ? WHERE site = ? AND id = ?',
    putFields: 'UPDATE web_forms SET fields = ? WHERE site = ? AND id = ?',
    remove: 'DELETE FROM web_forms WHERE site = ? AND id = ?',
    removeSome: 'DELETE FROM web_forms WHERE rowid IN (SELECT rowid FROM web_forms WHERE site = ? LIMIT +?)',
  })
  const existing = (site: SiteId, id: WebFormId): WebForm => {
    const form = forms.get(site, id)
    if (form) return form
    throw new ServiceError('webFormUnknown')
  }

  return {
    get: (site, id) => read(() => forms.get(site, id)),
    list: (site) => readPages(read, forms.some, { of: [site], after: Number.MIN_SAFE_INTEGER, keyOf: idOf }),
    listWhole: (site, after, limit) => readPages(read, forms.whole, { of: [site], after, limit, keyOf: idOf }),

    create: ({ site, id, name, fields }, entry) =>
      write(() => recordIf(forms.insert(site, id, name, JSON.stringify(fields)) === 1, record, entry)),

    rename: (site, id, name, entry) =>
      write(() => {
        if (existing(site, id).name === name) return
        forms.rename(name, site, id)
        record(entry)
      }),

    highestId: (site) => read(() => forms.highest(site)?.id ?? 0),

    changeFields: (site, id, apply, entry, deadline = unlimited) =>
      write(() => {
        deadline.check()
        const before = existing(site, id).fields
        const fields = apply(before)
        if (fields === before) return
        forms.putFields(JSON.stringify(fields), site, id)
        record(entry)
      }),

    remove: (site, id, entry) => write(() => recordIf(forms.remove(site, id) === 1, record, entry)),

    async clear(site) {
      while ((await write(() => forms.removeSome(site, batchSize))) === batchSize);
    },
  }
}
