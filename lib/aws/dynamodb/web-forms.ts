import { setTimeout as sleep } from 'node:timers/promises'
import { type Deadline, reserves, unlimited } from '../../core/deadline.ts'
import { ServiceError } from '../../core/errors.ts'
import { type SiteId, storedId, type WebFormId } from '../../core/ids.ts'
import type { SystemField, WebForm, WebForms } from '../../fields/web-forms.ts'
import { openTable, queryFirst, queryItems, type Table, type TableOptions } from './dynamodb.ts'
import { batchDelete } from './dynamodb-batches.ts'
import type { RecordChange } from './journal.ts'
import { createMark, isOwnWrite } from './write-mark.ts'

// Names of attributes are short because they count towards the item: a full form stays below the 4 KB of one read unit.
interface FieldItem {
  t: number
  n?: string
  m: boolean
  o: number
}

interface FormItem {
  site: number
  form: number
  name: string
  fields: FieldItem[]
  version: number
  // Marks of the last changes, the newest first: a writer whose answer was lost recognises its own write.
  changes: string[]
}

const toField = ({ t, n, m, o }: FieldItem): SystemField => ({
  typeId: t,
  ...(n !== undefined && { name: n }),
  mandatory: m,
  order: o,
})

const fromField = ({ typeId, name, mandatory, order }: SystemField): FieldItem => ({
  t: typeId,
  ...(name !== undefined && { n: name }),
  m: mandatory,
  o: order,
})

const toForm = ({ site, form, name, fields }: FormItem): WebForm => ({
  site: storedId(site),
  id: storedId<WebFormId>(form),
  name,
  fields: fields.map(toField),
})

type Apply = Parameters<WebForms['changeFields']>[2]
type FormTable = Table<FormItem>

// After so many changes by others, a writer whose answer was lost no longer recognises its own.
const mostMarks = 16

// Milliseconds in which a writer competes with others.
const longestRetry = 8_000
const longestPause = 200

/** Writes the next version of a form. Returns false when another writer was faster. */
const replaceFields = async (
  table: FormTable,
  { site, form, version, changes }: FormItem,
  fields: readonly SystemField[],
  { mark, signal }: { readonly mark: string; readonly signal: AbortSignal },
): Promise<boolean> => {
  const marks = [mark, ...changes].slice(0, mostMarks)
  const change = {
    set: { fields: fields.map(fromField), version: version + 1, changes: marks },
    condition: '#version = :before',
    values: { ':before': version },
    signal,
  }
  try {
    return (await table.update({ site, form }, change)) !== undefined
  } catch (error) {
    if (signal.aborted && isOwnWrite(mark, (await table.get({ site, form }))?.changes)) return true
    throw error
  }
}

/** One read and one conditional write. Errors: webFormUnknown, unavailable. */
const tryToChange = async (
  table: FormTable,
  { site, id }: Pick<WebForm, 'site' | 'id'>,
  apply: Apply,
  { mark, deadline }: { readonly mark: string; readonly deadline: Deadline },
): Promise<'changed' | 'unchanged' | 'overtaken'> => {
  const item = await table.get({ site, form: id })
  if (!item) throw new ServiceError('webFormUnknown')
  if (isOwnWrite(mark, item.changes)) return 'changed'
  const before = item.fields.map(toField)
  const fields = apply(before)
  if (fields === before) return 'unchanged'
  deadline.check()
  return (await replaceFields(table, item, fields, { mark, signal: deadline.signal })) ? 'changed' : 'overtaken'
}

const changeForm = async (
  table: FormTable,
  form: Pick<WebForm, 'site' | 'id'>,
  apply: Apply,
  deadline: Deadline,
): Promise<boolean> => {
  const mark = createMark()
  const end = Date.now() + longestRetry
  for (let attempt = 0; Date.now() < end; attempt++) {
    const attempted = await tryToChange(table, form, apply, { mark, deadline })
    if (attempted !== 'overtaken') return attempted === 'changed'
    // Full jitter: writers that collided once do not meet again.
    await sleep(Math.random() * Math.min(longestPause, 5 * 2 ** attempt))
  }
  throw new ServiceError('unavailable')
}

const formsOf = (site: SiteId) => ({ where: '#site = :site', values: { ':site': site } })

const createReading = (table: FormTable): Pick<WebForms, 'get' | 'list' | 'listWhole' | 'highestId'> => ({
  async get(site, id) {
    const item = await table.get({ site, form: id }, false)
    return item && toForm(item)
  },

  async list(site) {
    const items = await queryItems(table, { ...formsOf(site), columns: ['form', 'name'] })
    return items.map(({ form, name }) => ({ id: storedId<WebFormId>(form), name }))
  },

  async listWhole(site, after, limit) {
    const query = {
      where: '#site = :site AND #form > :after',
      values: { ':site': site, ':after': after },
      consistent: true,
    }
    return (await queryItems(table, query, limit)).map(toForm)
  },

  async highestId(site) {
    const last = await queryFirst(table, { ...formsOf(site), newestFirst: true, consistent: true })
    return last?.form ?? 0
  },
})

/**
 * The table WebForms: one item for each form, with all its fields. A change is a read and a conditional write. It is
 * repeated when another writer was faster.
 */
export const createWebForms = ({ record, ...options }: TableOptions & { readonly record: RecordChange }): WebForms => {
  const table = openTable<FormItem>(options)
  return {
    ...createReading(table),

    async create({ site, id, name, fields }, entry) {
      const item: FormItem = { site, form: id, name, fields: fields.map(fromField), version: 1, changes: [] }
      if (!(await table.put(item, { condition: 'attribute_not_exists(#form)' }))) return false
      await record(entry)
      return true
    },

    async rename(site, id, name, entry) {
      const change = { set: { name }, condition: 'attribute_exists(#form)', returns: 'UPDATED_OLD' } as const
      const before = await table.update({ site, form: id }, change)
      if (!before) throw new ServiceError('webFormUnknown')
      if (before.name !== name) await record(entry)
    },

    async changeFields(site, id, apply, entry, deadline = unlimited) {
      using changing = deadline.reserving(reserves.settle)
      changing.check()
      if (await changeForm(table, { site, id }, apply, changing)) await record(entry, deadline)
    },

    async remove(site, id, entry) {
      if (!(await table.take({ site, form: id }))) return false
      await record(entry)
      return true
    },

    async clear(site) {
      const forms = await queryItems(table, { ...formsOf(site), columns: ['form'], consistent: true })
      await batchDelete(
        table,
        forms.map(({ form }) => ({ site, form })),
      )
    },
  }
}
