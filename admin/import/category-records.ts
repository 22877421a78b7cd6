import * as z from 'zod'
import type { LinkList } from '../../lib/categories/category-links.ts'
import { type ContentKind, objectKindNames, withDefaults } from '../../lib/categories/content-kinds.ts'
import { contentId, contentSchema } from '../../lib/categories/content-schema.ts'
import { linkObjects } from '../../lib/categories/link-objects.ts'
import { ServiceError } from '../../lib/errors.ts'
import type { CategoryId, SiteId } from '../../lib/ids.ts'
import { administrator } from '../author.ts'
import type { AreaStores } from '../stores.ts'
import { importEntry, recordKind } from './record-kind.ts'

/** Long texts are in memory until their batch is stored. */
const batch = 100

/** `{"kind": "category" or a kind of objects, "id", …}`: stores the content with sensible values for what is left out, in place of what has the same id. */
export const contentRecord = (kind: ContentKind) =>
  recordKind({
    schema: contentSchema(kind),
    batch,
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
const linkKnown = async (records: readonly LinkRecord[], list: LinkList, stores: AreaStores) => {
  const existing = await stores.contents.existing(list.site, list.kind, [
    ...new Set(records.map(({ objectId }) => objectId)),
  ])
  const known = records.filter(({ objectId }) => existing.has(objectId))
  if (known.length > 0) await linkObjects(stores, list, known, administrator)
  return records.map(({ objectId }) =>
    existing.has(objectId) ? undefined : `objectId: there is no ${list.kind} ${objectId}`,
  )
}

const linkAll = async (records: readonly LinkRecord[], list: LinkList, stores: AreaStores) => {
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
export const linkRecord = recordKind({
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
