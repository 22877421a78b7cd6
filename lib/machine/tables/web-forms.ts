import { ServiceError } from '../../core/errors.ts'
import type { SiteId, WebFormId } from '../../core/ids.ts'
import type { WebForm, WebFormSummary, WebForms } from '../../fields/web-forms.ts'
import type { Database } from '../sqlite/database.ts'
import { all, fromRow, idOf, one, prepareAll, readPages, value } from '../sqlite/queries.ts'
import { type RecordChange, recordIf } from './history.ts'

const toForm = fromRow<WebForm>({ fields: JSON.parse })

const batchSize = 500

export const createWebForms = ({ connection, read, write }: Database, record: RecordChange): WebForms => {
  const forms = prepareAll(connection, {
    get: one('SELECT * FROM web_forms WHERE site = ? AND id = ?', toForm),
    some: all<WebFormSummary>('SELECT id, name FROM web_forms WHERE site = ? AND id > ? ORDER BY id LIMIT +?'),
    whole: all('SELECT * FROM web_forms WHERE site = ? AND id > ? ORDER BY id LIMIT +?', toForm),
    highest: value<number | null>('SELECT max(id) FROM web_forms WHERE site = ?'),
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
    list: (site) => readPages(read, forms.some, [site, Number.MIN_SAFE_INTEGER], idOf),
    listWhole: (site, after, limit) => readPages(read, forms.whole, [site, after], idOf, limit),

    create: ({ site, id, name, fields }, entry) =>
      write(() => recordIf(forms.insert(site, id, name, fields) === 1, record, entry)),

    rename: (site, id, name, entry) =>
      write(() => void recordIf(existing(site, id).name !== name && forms.rename(name, site, id), record, entry)),

    highestId: (site) => read(() => forms.highest(site) ?? 0),

    changeFields: (site, id, apply, entry, deadline) =>
      write(() => {
        deadline?.check()
        const before = existing(site, id).fields
        const fields = apply(before)
        recordIf(fields !== before && forms.putFields(fields, site, id), record, entry)
      }),

    remove: (site, id, entry) => write(() => recordIf(forms.remove(site, id) === 1, record, entry)),

    async clear(site) {
      while ((await write(() => forms.removeSome(site, batchSize))) === batchSize);
    },
  }
}
