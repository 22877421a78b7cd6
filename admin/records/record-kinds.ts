import { isDeepStrictEqual } from 'node:util'
import type * as z from 'zod'
import { type LinkList, type LinkOutcome, tryToLink } from '../../lib/categories/category-links.ts'
import type { Content } from '../../lib/categories/contents.ts'
import { type ContentKind, contentKinds, mergeContent, withDefaults } from '../../lib/core/content-kinds.ts'
import { firstFault, ServiceError } from '../../lib/core/errors.ts'
import type { HistoryEntry } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { inParallel } from '../../lib/core/in-parallel.ts'
import { objectKinds } from '../../lib/core/object-kinds.ts'
import { type ImportedField, importField, type SystemField } from '../../lib/fields/web-forms.ts'
import { check } from '../../lib/http/validate.ts'
import { administrator, type ContentStores, entryOf } from '../stores/admin-stores.ts'
import { contentSchema, fieldSchema, type LinkRecord, linkSchema, webFormSchema } from './record-schemas.ts'

export interface Fault {
  readonly line: number
  readonly message: string
}

interface Destination {
  readonly site: SiteId
  readonly stores: ContentStores
  readonly replaces: boolean
}

// Stores records in order. Returns the reasons why records were not stored. Repeating is safe.
type Store<Value> = (
  records: readonly Value[],
  destination: Destination,
) => Promise<ReadonlyMap<Value, string | undefined>>

// The largest numbers of records and characters in a batch.
const mostTogether = 500
const mostCharacters = 4_000_000

const formsAtOnce = 16

const importEntry = (site: SiteId, kind: string, count: number): HistoryEntry =>
  entryOf('content.imported', site, kind, { count })

// `schema` does not include `kind`.
const recordKind =
  <Value>(schema: z.ZodType<Value>, store: Store<Value>) =>
  (destination: Destination) => {
    const lines = new Map<Value, number>()
    let characters = 0
    return {
      /** Checks a record and adds it to the batch. `length` is in characters. */
      add(line: number, record: unknown, length: number): Fault | undefined {
        const result = check(schema, record)
        if ('problems' in result) return { line, message: firstFault(result.problems) }
        lines.set(result.value, line)
        characters += length
        return undefined
      },
      isFull: () => lines.size >= mostTogether || characters >= mostCharacters,
      async store() {
        const reasons = lines.size > 0 ? await store([...lines.keys()], destination) : undefined
        const faults = [...lines].flatMap(([value, line]) => {
          const message = reasons?.get(value)
          return message === undefined ? [] : [{ line, message }]
        })
        return { stored: lines.size - faults.length, faults }
      },
    }
  }

export type RecordKind = ReturnType<typeof recordKind>

// Merges the records with the same id. With `replaces`, only the last record counts.
const foldById = <Value extends { readonly id: number }>(values: readonly Value[], replaces: boolean) => {
  const byId = new Map<number, Value>()
  for (const value of values) byId.set(value.id, { ...(replaces ? undefined : byId.get(value.id)), ...value })
  return byId
}

const webFormRecord = recordKind(webFormSchema, async (records, { site, stores: { webForms }, replaces }) => {
  const forms = foldById(records, replaces).values()
  await inParallel(forms, formsAtOnce, async ({ id, name }) => {
    const entry = importEntry(site, 'webForm', 1)
    const usual = `Web form ${id}`
    const created = await webForms.create({ site, id, name: name ?? usual, fields: [] }, entry)
    const wanted = name ?? (replaces ? usual : undefined)
    if (!created && wanted !== undefined) await webForms.rename(site, id, wanted, entry)
  })
  return new Map()
})

// A field at a new position moves the fields behind it. So the wanted positions are set again in ascending order.
const settle = (imported: readonly SystemField[], records: readonly ImportedField[]): readonly SystemField[] => {
  const orders = new Map(records.map(({ typeId, order }) => [typeId, order] as const).filter(([, order]) => order))
  return [...orders]
    .toSorted(([, one = 0], [, other = 0]) => one - other)
    .reduce((fields, [typeId, order]) => importField(fields, { typeId, order }), imported)
}

// Names no form, so that the same fault of several forms is listed once. Failures of the service are thrown.
const sentenceOf = (error: unknown): string => {
  if (!(error instanceof ServiceError) || error.status >= 500) throw error
  return error.message
}

// All fields of a form are imported as one change of this form.
const fieldRecord = recordKind(fieldSchema, async (records, { site, stores: { webForms }, replaces }) => {
  const faults = new Map<z.infer<typeof fieldSchema>, string>()
  const byForm = Map.groupBy(records, ({ webFormId }) => webFormId)
  await inParallel(byForm, formsAtOnce, async ([webFormId, group]) => {
    const apply = (before: readonly SystemField[]) => {
      let fields = before
      for (const record of group) {
        const { webFormId: _, ...field } = record
        try {
          fields = importField(fields, field, replaces)
          faults.delete(record)
        } catch (error) {
          faults.set(record, sentenceOf(error))
        }
      }
      const placed = group.filter((record) => !faults.has(record))
      const after = settle(fields, placed)
      return isDeepStrictEqual(before, after) ? before : after
    }
    try {
      await webForms.changeFields(site, webFormId, apply, importEntry(site, 'field', group.length))
    } catch (error) {
      for (const record of group) faults.set(record, sentenceOf(error))
    }
  })
  return faults
})

const contentRecord = (kind: ContentKind) =>
  recordKind(contentSchema(kind), async (records, { site, stores: { contents }, replaces }) => {
    const given = foldById<Content>(records, replaces)
    const ids = [...given.keys()]
    const now = Date.now()
    const apply = (stored: Content | undefined, id: number): Content | undefined => {
      const content = given.get(id)
      if (!content || !replaces) return content && mergeContent(kind, stored, content, now)
      // Keeps the time of creation: importing a file twice changes nothing the second time.
      const createDate = stored?.['createDate']
      return withDefaults(kind, createDate ? { createDate, ...content } : content, now)
    }
    await contents.changeMany(site, kind, ids, apply, importEntry(site, kind, ids.length))
    return new Map()
  })

const faultIn = (outcome: LinkOutcome, { kind }: LinkList, { objectId }: LinkRecord): string | undefined => {
  if (outcome.outcome === 'end unknown') return 'categoryId: the site has no such category'
  const isUnknown = outcome.outcome === 'others unknown' && outcome.ids.has(objectId)
  return isUnknown ? `objectId: the site has no such ${objectKinds[kind].one}` : undefined
}

// Returns a function that says why a record was not linked, or undefined if it was.
const linkKnown = async (records: readonly LinkRecord[], list: LinkList, { stores, replaces }: Destination) => {
  const items = records.map(({ objectId, displayable }) => ({
    id: objectId,
    displayable: displayable ?? (replaces ? true : undefined),
  }))
  const first = await tryToLink(stores, list, items, administrator)
  const known = first.outcome === 'others unknown' ? items.filter(({ id }) => !first.ids.has(id)) : []
  // The second try also finds the objects that were removed since the first try.
  const second = known.length > 0 ? await tryToLink(stores, list, known, administrator) : first
  return (record: LinkRecord) => faultIn(first, list, record) ?? faultIn(second, list, record)
}

const linkRecord = recordKind(linkSchema, async (records, destination) => {
  const faults = new Map<LinkRecord, string | undefined>()
  for (const [kind, ofKind] of Map.groupBy(records, ({ type }) => type)) {
    for (const [category, group] of Map.groupBy(ofKind, ({ categoryId }) => categoryId)) {
      const faultOf = await linkKnown(group, { site: destination.site, kind, category }, destination)
      for (const record of group) faults.set(record, faultOf(record))
    }
  }
  return faults
})

export const recordKinds: ReadonlyMap<string, RecordKind> = new Map<string, RecordKind>([
  ...contentKinds.map((kind) => [kind, contentRecord(kind)] as const),
  ['link', linkRecord],
  ['webForm', webFormRecord],
  ['field', fieldRecord],
])
