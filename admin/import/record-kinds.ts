import * as z from 'zod'
import type { LinkList } from '../../lib/categories/category-links.ts'
import { type ContentKind, contentKinds, objectKindNames, withDefaults } from '../../lib/categories/content-kinds.ts'
import { contentId, contentSchema } from '../../lib/categories/content-schema.ts'
import { linkObjects } from '../../lib/categories/link-objects.ts'
import { ServiceError } from '../../lib/errors.ts'
import { fieldTypeName } from '../../lib/fields/catalogue.ts'
import { importField } from '../../lib/fields/field-rules.ts'
import { maxOrder } from '../../lib/fields/web-forms.ts'
import type { HistoryEntry } from '../../lib/history-entry.ts'
import { type CategoryId, largestNamedId, type SiteId, type WebFormId } from '../../lib/ids.ts'
import { administrator, entryOf } from '../changes.ts'
import type { ContentStores } from '../stores.ts'

/** Why a record was not stored, by its line. */
export interface Fault {
  readonly line: number
  readonly message: string
}

interface Outcome {
  readonly stored: number
  readonly faults: readonly Fault[]
}

/** Collects records of one kind and stores them in batches. */
export interface Collector {
  /** Checks a record and keeps it until the next flush; answers what is wrong with it. */
  add(line: number, record: unknown): Fault | undefined
  readonly isFull: boolean
  flush(): Promise<Outcome>
}

export type RecordKind = (site: SiteId, stores: ContentStores) => Collector

interface Definition<Value> {
  /** What a record looks like, without its `kind`. */
  readonly schema: z.ZodType<Value>
  /** How many records of the kind, one behind the other, are stored together. */
  readonly batch: number
  /** Stores records in their order; answers for each what kept it from being stored, or undefined. Storing again changes nothing. */
  store(records: readonly Value[], site: SiteId, stores: ContentStores): Promise<readonly (string | undefined)[]>
}

/** What the history of a site says of a batch that was imported. */
const importEntry = (site: SiteId, kind: string, count: number): HistoryEntry =>
  entryOf('content.imported', site, kind, { count })

const describe = ({ issues: [issue] }: z.ZodError): string => {
  const path = issue?.path.join('.')
  return path ? `${path}: ${issue?.message}` : (issue?.message ?? 'it is not a record')
}

const recordKind =
  <Value>({ schema, batch, store }: Definition<Value>): RecordKind =>
  (site, stores) => {
    let pending: { line: number; value: Value }[] = []
    return {
      add(line, record) {
        const result = schema.safeParse(record)
        if (!result.success) return { line, message: describe(result.error) }
        pending.push({ line, value: result.data })
        return undefined
      },
      get isFull() {
        return pending.length >= batch
      },
      async flush() {
        const records = pending
        pending = []
        if (records.length === 0) return { stored: 0, faults: [] }
        const messages = await store(
          records.map(({ value }) => value),
          site,
          stores,
        )
        const faults = records.flatMap(({ line }, index) => {
          const message = messages[index]
          return message === undefined ? [] : [{ line, message }]
        })
        return { stored: records.length - faults.length, faults }
      },
    }
  }

/** Full forms stay below the 4 KB of one read unit with names up to this length. */
const longestName = 80

const id = z
  .int('must be a whole number')
  .min(1, 'must be 1 or more')
  .max(largestNamedId, `must be ${largestNamedId} or less`)
const webFormId = id.transform((value) => value as WebFormId)
const name = z
  .string('must be a text')
  .min(1, 'must not be empty')
  .max(longestName, `must have ${longestName} characters or fewer`)
  .regex(/^\P{Cc}*$/u, 'must not have control characters')

/** `{"kind": "webForm", "id", "name"}`: makes the form, or renames the one of that id. */
const webFormRecord = recordKind({
  schema: z.strictObject({ id: webFormId, name: name.optional() }),
  batch: 1,
  async store(records, site, { webForms }) {
    for (const { id, name } of records) {
      const entry = importEntry(site, 'webForm', 1)
      const created = await webForms.create({ site, id, name: name ?? `Web form ${id}`, fields: [] }, entry)
      if (!created && name !== undefined) await webForms.rename(site, id, name, entry)
    }
    return []
  },
})

/** `{"kind": "field", "webFormId", "typeId", "name", "mandatory", "order"}`: puts a field on a form, in place of one of its type. */
const fieldRecord = recordKind({
  schema: z.strictObject({
    webFormId,
    typeId: z
      .int('must be a whole number')
      .refine((id) => fieldTypeName(id) !== undefined, 'is not a type of system field'),
    name: name.optional(),
    mandatory: z.boolean('must be true or false').default(false),
    order: z
      .int('must be a whole number')
      .min(1, 'must be 1 or more')
      .max(maxOrder, `must be ${maxOrder} or less`)
      .optional(),
  }),
  batch: 1,
  async store(records, site, { webForms }) {
    const faults: (string | undefined)[] = []
    for (const { webFormId, ...field } of records) {
      try {
        await webForms.changeFields(
          site,
          webFormId,
          (fields) => importField(fields, field),
          importEntry(site, 'field', 1),
        )
        faults.push(undefined)
      } catch (error) {
        if (!(error instanceof ServiceError) || error.status >= 500) throw error
        faults.push(`web form ${webFormId}: ${error.message}`)
      }
    }
    return faults
  },
})

/** Long texts are in memory until their batch is stored. */
const contentsAtOnce = 100

/** `{"kind": "category" or a kind of objects, "id", …}`: stores the content with sensible values for what is left out, in place of what has the same id. */
const contentRecord = (kind: ContentKind) =>
  recordKind({
    schema: contentSchema(kind),
    batch: contentsAtOnce,
    async store(records, site, { contents }) {
      // Of several records of one id, the last one counts.
      const byId = new Map(records.map((record) => [record.id, withDefaults(kind, record, Date.now())]))
      await contents.putMany(site, kind, [...byId.values()], importEntry(site, kind, byId.size))
      return []
    },
  })

const linkSchema = z.strictObject({
  type: z.enum(objectKindNames, `must be ${objectKindNames.join(' or ')}`),
  categoryId: contentId.transform((id) => id as CategoryId),
  objectId: contentId,
  displayable: z
    .literal([0, 1], 'must be 1 or 0')
    .transform((value) => value === 1)
    .optional(),
})

type LinkRecord = z.infer<typeof linkSchema>

/** Links those objects that exist; answers for each record what kept it from being linked. */
const linkKnown = async (records: readonly LinkRecord[], list: LinkList, stores: ContentStores) => {
  const existing = await stores.contents.existing(list.site, list.kind, [
    ...new Set(records.map(({ objectId }) => objectId)),
  ])
  const known = records.filter(({ objectId }) => existing.has(objectId))
  if (known.length > 0) await linkObjects(stores, list, known, administrator)
  return records.map(({ objectId }) =>
    existing.has(objectId) ? undefined : `objectId: there is no ${list.kind} ${objectId}`,
  )
}

const linkAll = async (records: readonly LinkRecord[], list: LinkList, stores: ContentStores) => {
  try {
    return await linkKnown(records, list, stores)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error
    return records.map(() => `categoryId: ${error.message}`)
  }
}

const listOf = ({ type, categoryId }: LinkRecord, site: SiteId): LinkList => ({
  site,
  kind: type,
  category: categoryId,
})

/** `{"kind": "link", "type": "news", "categoryId", "objectId", "displayable"}`: links an object with a category; both must exist. */
const linkRecord = recordKind({
  schema: linkSchema,
  batch: 500,
  async store(records, site, stores) {
    const groups = Map.groupBy(records.entries(), ([, { type, categoryId }]) => `${type} ${categoryId}`)
    const faults: (string | undefined)[] = []
    for (const group of groups.values()) {
      const [first] = group
      if (!first) continue
      const messages = await linkAll(
        group.map(([, record]) => record),
        listOf(first[1], site),
        stores,
      )
      for (const [position, [index]] of group.entries()) faults[index] = messages[position]
    }
    return faults
  },
})

/** What an import can hold, by the `kind` of its records (decisions.md, section 7). */
export const recordKinds: ReadonlyMap<string, RecordKind> = new Map<string, RecordKind>([
  ...contentKinds.map((kind) => [kind, contentRecord(kind)] as const),
  ['link', linkRecord],
  ['webForm', webFormRecord],
  ['field', fieldRecord],
])
