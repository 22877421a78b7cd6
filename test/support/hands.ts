import { join } from 'node:path'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeEach, describe } from 'vitest'
import type { RecordChange } from '../../lib/aws/dynamodb/journal.ts'
import type { HistoryEntry } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { type Clock, systemClock } from '../../lib/core/time.ts'
import { createTableStores } from '../../lib/machine/machine.ts'
import { openDatabase } from '../../lib/machine/sqlite/database.ts'
import { prepareSchema } from '../../lib/machine/sqlite/schema.ts'
import { prepareUploads } from '../../lib/machine/tables/uploads.ts'
import type { Stores } from '../../lib/service/stores.ts'
import { expiryOfComplete } from '../../lib/storage/uploads/upload.ts'
import { makeDirectory, removeDirectory } from './directory.ts'
import { unrecorded } from './history.ts'
import { openMemoryTables } from './memory-dynamodb.ts'
import { openTableStores, openTestTables, type TestTables } from './tables.ts'

export type TableStores = Omit<Stores, 'files' | 'removalQueue' | 'uploadParts' | 'live' | 'seals'>

/** Empty tables of one kind of store, for one test. */
export interface OpenedHand {
  readonly stores: TableStores
  /** The same tables without a history, for tests that write thousands of records. */
  readonly unrecorded: TableStores
  /** The number of consecutive changes for which a test has time. */
  readonly quickChanges: number
  /** The same tables over another connection, as another process or function would use. */
  connect(): TableStores
  /** Completes an upload: on one machine as the transaction that places its file does, on AWS by a claim. */
  completeUpload(id: string, holder: string, entry: HistoryEntry): Promise<void>
  close(): Promise<void>
}

export interface Hand {
  readonly name: string
  /** The suites write only few records to this store. */
  readonly isSlow?: boolean
  open(clock?: Clock): Promise<OpenedHand>
}

export const oneMachine: Hand = {
  name: 'one machine',
  async open(clock = systemClock) {
    const folder = makeDirectory()
    const file = join(folder, 'site-admin.db')
    const first = openDatabase(file, { durable: false })
    prepareSchema(first.connection)
    const databases = [first]
    const stores = createTableStores(first, clock)
    return {
      stores,
      unrecorded: stores,
      quickChanges: 2_500,
      connect() {
        const another = openDatabase(file, { durable: false })
        databases.push(another)
        return createTableStores(another, clock)
      },
      async completeUpload(id) {
        await first.write(() => prepareUploads(first.connection).complete(expiryOfComplete(clock.wall()), id))
      },
      async close() {
        for (const database of databases) database.close()
        removeDirectory(folder)
      },
    }
  },
}

const onTables = (name: string, openTables: (now?: () => number) => Promise<TestTables>): Hand => ({
  name,
  async open(clock) {
    const { names, connect, close } = await openTables(clock?.wall)
    const storesOver = (dynamodb: DynamoDBDocumentClient, options?: { record: RecordChange }): TableStores =>
      openTableStores(names, { dynamodb, now: clock?.wall, ...options })
    const open = () => storesOver(connect())
    const quickly = storesOver(connect(), { record: unrecorded })
    const stores = open()
    const completeUpload = async (id: string, holder: string, entry: HistoryEntry) =>
      stores.uploadRecords.claim(id, holder, () => 60_000)?.complete(entry)
    return { stores, unrecorded: quickly, quickChanges: 50, connect: open, completeUpload, close }
  },
})

export const hands: readonly Hand[] = [oneMachine, onTables('AWS', async (now) => openMemoryTables(now))]

/** The suites of the ports also test dynalite, so that the tables in memory behave as the tables of an emulator. */
export const handsOfPorts: Hand[] = [...hands, { ...onTables('dynalite', () => openTestTables()), isSlow: true }]

interface Subject {
  readonly subject: string
  readonly kinds: readonly Hand[]
  readonly clock?: Clock
}

/** Each case of the suites has its own site. */
export let ownSite = 0 as SiteId

/** Runs a suite on each kind of tables. All cases of the suite share the tables. */
export const describeOn = ({ subject, kinds, clock }: Subject, suite: (hand: OpenedHand, kind: Hand) => void): void =>
  describe.for(kinds)(`${subject}: $name`, async (kind) => {
    const hand = await kind.open(clock)
    beforeEach(() => {
      ownSite = (ownSite + 1) as SiteId
    })
    afterAll(() => hand.close())
    suite(hand, kind)
  })

export { entry } from './history.ts'
