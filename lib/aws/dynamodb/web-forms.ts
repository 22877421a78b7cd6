import { setTimeout as sleep } from 'node:timers/promises'
import { setRecent } from '../../core/cached-lookup.ts'
import { ServiceError } from '../../core/errors.ts'
import type { SiteId, WebFormId } from '../../core/ids.ts'
import { type Deadline, reserves, unlimited } from '../../core/time.ts'
import type { FieldsEdit, SystemField, WebForms } from '../../fields/web-forms.ts'
import { expression, mapped, openTable, queryItems, type Table } from './dynamodb.ts'
import { batchDelete } from './dynamodb-batches.ts'
import { type RecordingOptions, recordIf } from './journal.ts'
import { createMark, isOwnWrite, putMarked } from './write-mark.ts'

// Names of attributes are short because they count towards the item: a full form stays below the 4 KB of one read unit.
interface FieldItem {
  t: number
  n?: string | undefined
  m: boolean
  o: number
}

interface FormItem {
  site: SiteId
  form: WebFormId
  name: string
  mark?: string
  fields: FieldItem[]
  version: number
  // Marks of the creation and the last changes, the newest first. A writer whose answer was lost recognises its own write
  // by its mark, and a new form is not taken for a removed one with the same id.
  changes: string[]
}

const toField = ({ t, n, m, o }: FieldItem): SystemField => ({
  typeId: t,
  ...(n !== undefined && { name: n }),
  mandatory: m,
  order: o,
})

const fromField = ({ typeId: t, name: n, mandatory: m, order: o }: SystemField): FieldItem => ({ t, n, m, o })

const toForm = ({ site, form: id, name, fields }: FormItem) => ({ site, id, name, fields: fields.map(toField) })

type FormTable = Table<FormItem>

const mostKnown = 100

// After this many changes by others, a writer whose answer was lost cannot recognise its own change any more.
const mostMarks = 16

// In milliseconds: a writer stops after this time if other writers are always faster.
const longestRetry = 8_000
const longestPause = 200

interface Attempt {
  readonly mark: string
  readonly deadline: Deadline
}

const tryToChange = async (table: FormTable, item: FormItem, apply: FieldsEdit, { mark, deadline }: Attempt) => {
  const { site, form, version } = item
  const { signal } = deadline
  if (isOwnWrite(mark, item.changes)) return item
  const before = item.fields.map(toField)
  const fields = apply(before)
  if (fields === before) return 'unchanged'
  deadline.check()
  const changes = [mark, ...item.changes].slice(0, mostMarks)
  const set = { fields: fields.map(fromField), version: version + 1, changes }
  const changed = { ...item, ...set }
  // A form that was removed and created again may have the same version, but has a different mark.
  const condition = expression`#version = ${version} AND #changes[0] = ${item.changes[0]}`
  try {
    const isReplaced = (await table.update({ site, form }, { set, condition, signal })) !== undefined
    return isReplaced ? changed : undefined
  } catch (error) {
    if (signal.aborted && isOwnWrite(mark, (await table.get({ site, form }))?.changes)) return changed
    throw error
  }
}

// A remembered form is used only to make a change. For any other outcome, the form is read first.
const changeKnown = async (table: FormTable, known: FormItem | undefined, apply: FieldsEdit, attempt: Attempt) => {
  try {
    const attempted = known && (await tryToChange(table, known, apply, attempt))
    return typeof attempted === 'object' ? attempted : undefined
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return undefined
    throw error
  }
}

const formsOf = (site: SiteId) => ({ where: expression`#site = ${site}` })

/**
 * The table WebForms: one item for each form, with all its fields. A change is a read and a conditional write. If
 * another writer was faster, the change is repeated. A further change by the same process needs no read.
 */
export const createWebForms = ({ record, ...options }: RecordingOptions): WebForms => {
  const table = openTable<FormItem>(options)
  const known = new Map<string, FormItem>()

  const changeForm = async (site: SiteId, form: WebFormId, apply: FieldsEdit, deadline: Deadline): Promise<boolean> => {
    const attempt = { mark: createMark(), deadline }
    const end = Date.now() + longestRetry
    const name = `${site}#${form}`
    const remembered = known.get(name)
    known.delete(name)
    let changed = await changeKnown(table, remembered, apply, attempt)
    for (let pause = 0; !changed; pause = Math.min(longestPause, pause * 2 || 5)) {
      if (Date.now() >= end) throw new ServiceError('unavailable')
      if (pause > 0) await sleep(Math.random() * pause)
      const item = await table.get({ site, form })
      if (!item) throw new ServiceError('webFormUnknown')
      const attempted = await tryToChange(table, item, apply, attempt)
      if (attempted === 'unchanged') return false
      changed = attempted
    }
    setRecent(known, name, changed, mostKnown)
    return true
  }

  return {
    get: async (site, id) => mapped(await table.get({ site, form: id }, false), toForm),

    async list(site) {
      const items = await queryItems(table, { ...formsOf(site), columns: ['form', 'name'] })
      return items.map(({ form, name }) => ({ id: form, name }))
    },

    async listWhole(site, after, limit) {
      const where = expression`#site = ${site} AND #form > ${after}`
      return (await queryItems(table, { where, consistent: true }, limit)).map(toForm)
    },

    async highestId(site) {
      const [last] = await queryItems(table, { ...formsOf(site), newestFirst: true, consistent: true }, 1)
      return last?.form ?? 0
    },

    async create({ site, id, name, fields }, entry) {
      const key = { site, form: id }
      const item = { ...key, name, fields: fields.map(fromField), version: 1, changes: [createMark()] }
      const isCreated = await putMarked(table, key, item, expression`attribute_not_exists(#form)`)
      return recordIf(isCreated, record, entry)
    },

    async rename(site, id, name, entry) {
      const mark = createMark()
      const change = { set: { name, mark }, condition: expression`attribute_exists(#form)` }
      const before = await table.update({ site, form: id }, { ...change, returns: 'UPDATED_OLD' })
      if (!before) throw new ServiceError('webFormUnknown')
      await recordIf(before.name !== name || isOwnWrite(mark, before.mark), record, entry)
    },

    async changeFields(site, id, apply, entry, deadline = unlimited) {
      using changing = deadline.reserving(reserves.settle)
      if (await changeForm(site, id, apply, changing)) await record(entry, deadline)
    },

    remove: async (site, id, entry) => recordIf(await table.remove({ site, form: id }), record, entry),

    async clear(site) {
      const forms = await queryItems(table, { ...formsOf(site), columns: ['form'], consistent: true })
      const keys = forms.map(({ form }) => ({ site, form }))
      await batchDelete(table, keys)
    },
  }
}
