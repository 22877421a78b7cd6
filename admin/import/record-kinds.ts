import { contentKinds } from '../../lib/categories/content-kinds.ts'
import { contentRecord } from './content-records.ts'
import { linkRecord } from './link-record.ts'
import type { RecordKind } from './record-kind.ts'
import { fieldRecord, webFormRecord } from './web-form-records.ts'

/** What an import can hold, by the `kind` of its records (decisions.md, section 7). */
export const recordKinds: ReadonlyMap<string, RecordKind> = new Map<string, RecordKind>([
  ...contentKinds.map((kind) => [kind, contentRecord(kind)] as const),
  ['link', linkRecord],
  ['webForm', webFormRecord],
  ['field', fieldRecord],
])
