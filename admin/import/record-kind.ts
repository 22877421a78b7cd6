import type * as z from 'zod'
import type { HistoryEntry } from '../../lib/history-entry.ts'
import type { SiteId } from '../../lib/ids.ts'
import { administrator } from '../author.ts'
import type { AreaStores } from '../stores.ts'

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

export type RecordKind = (site: SiteId, stores: AreaStores) => Collector

interface Definition<Value> {
  /** What a record looks like, without its `kind`. */
  readonly schema: z.ZodType<Value>
  /** How many records of the kind, one behind the other, are stored together. */
  readonly batch: number
  /** Stores records in their order; answers for each what kept it from being stored, or undefined. Storing again changes nothing. */
  store(records: readonly Value[], site: SiteId, stores: AreaStores): Promise<readonly (string | undefined)[]>
}

/** What the history of a site says of a batch that was imported. */
export const importEntry = (site: SiteId, kind: string, count: number): HistoryEntry => ({
  ...administrator,
  site,
  type: 'content.imported',
  subject: kind,
  details: { count },
})

const describe = ({ issues: [issue] }: z.ZodError): string => {
  const path = issue?.path.join('.')
  return path ? `${path}: ${issue?.message}` : (issue?.message ?? 'it is not a record')
}

export const recordKind =
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
