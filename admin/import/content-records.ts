import { withDefaults } from '../../lib/categories/content-defaults.ts'
import type { ContentKind } from '../../lib/categories/content-kinds.ts'
import { contentSchema } from '../../lib/categories/content-schema.ts'
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
