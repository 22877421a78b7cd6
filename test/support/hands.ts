import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import type { HistoryEntry } from '../../lib/history-entry.ts'
import type { SiteId } from '../../lib/ids.ts'
import type { Stores } from '../../lib/stores.ts'
import { openDatabase } from '../../local/database.ts'
import { prepareSchema } from '../../local/schema.ts'
import { createTableStores } from '../../local/table-stores.ts'

/** The ports over tables: files and queues are made of other things. */
export type TableStores = Omit<Stores, 'files' | 'removalQueue'>

/** Empty tables of a hand, which a test has for itself. */
export interface OpenedHand<Tested = TableStores> {
  readonly stores: Tested
  /** The same tables over a connection of its own, as another process or function has it. */
  connect(): Tested
  close(): Promise<void>
}

/** What a contract suite runs against. Suites name the ports that they need. */
export interface Hand<Tested = TableStores> {
  readonly name: string
  open(clock?: Clock): Promise<OpenedHand<Tested>>
}

const oneMachine: Hand = {
  name: 'one machine',
  async open(clock) {
    const folder = await mkdtemp(join(tmpdir(), 'site-admin-'))
    const file = join(folder, 'site-admin.db')
    const first = openDatabase(file, { durable: false })
    prepareSchema(first.connection)
    const databases = [first]
    return {
      stores: createTableStores(first, clock),
      connect() {
        const another = openDatabase(file, { durable: false })
        databases.push(another)
        return createTableStores(another, clock)
      },
      async close() {
        for (const database of databases) database.close()
        await rm(folder, { recursive: true })
      },
    }
  },
}

/** Every hand that the contract suites of the ports run against. */
export const hands: readonly Hand[] = [oneMachine]

/** What a change leaves in the history, where that does not matter. */
export const entry: HistoryEntry = { site: 1001 as SiteId, type: 'site.changed', subject: 'test', actor: 'test' }
