import { roles } from '../../lib/access/people.ts'
import { createFolderRemovals } from '../../lib/aws/dynamodb/folder-removals.ts'
import { createJournal } from '../../lib/aws/dynamodb/journal.ts'
import { createWorkflows } from '../../lib/aws/dynamodb/path-locks.ts'
import type { tables } from '../../lib/config/tables.ts'
import type { HistoryEntry } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { systemClock, unlimited } from '../../lib/core/time.ts'
import type { Machine } from '../../lib/machine/machine.ts'
import { createChangeWatch, createRecorder } from '../../lib/machine/tables/history.ts'
import type { StorageStores } from '../../lib/storage/changes/change.ts'
import { restore } from '../../lib/storage/changes/restore.ts'
import { listAll } from '../../lib/storage/many-objects.ts'
import type { Change } from '../../lib/storage/object-store.ts'
import { toStoragePath } from '../../lib/storage/path.ts'
import { openObjectStore, openTestBucket } from '../../test/support/bucket.ts'
import { fillDirectory } from '../../test/support/every-operation.ts'
import { send } from '../../test/support/gateway.ts'
import { unrecorded } from '../../test/support/history.ts'
import { atMost, type Bench, inTurns, seconds, type Table, verdict } from './measure/figures.ts'
import { onMachine, onTables, storageOf } from './measure/grounds.ts'
import { meter } from './measure/meter.ts'

const site = 1001 as SiteId
const samples = 3_000
const mostOfChange = 40

const entry: HistoryEntry = {
  site,
  type: 'file.stored',
  subject: 'images/2026/november',
  actor: 'ann',
  requestId: '02af58c4-4f27-4150-9305-f326300f3d05',
  details: { names: ['logo.png'] },
}

/**
 * In microseconds per change, alternately without an entry, with an entry, and with an entry that the live changes and
 * the webhooks notice, so that other load affects all of them.
 */
const measureEntry = async ({ database }: Machine): Promise<Table> => {
  const { connection, write } = database
  const insert = connection.prepare('INSERT INTO workflows (site, page) VALUES (?, ?)')
  const record = createRecorder(connection, Date.now)
  const report = createRecorder(connection, Date.now, createChangeWatch(database))
  const change = async (page: string, note = (_: HistoryEntry): void => {}) => {
    const taken = await seconds(() =>
      write(() => {
        insert.run(site, page)
        note(entry)
      }),
    )
    return taken * 1_000_000
  }
  const { without, recorded, reported } = await inTurns(samples, {
    without: (turn) => change(`${turn}.html`),
    recorded: (turn) => change(`${turn}.htm`, record),
    reported: (turn) => change(`a${turn}.htm`, report),
  })
  const cost = reported - without
  return {
    title: `An entry on one machine, µs (median of ${samples.toLocaleString('en')} changes, each on the disk)`,
    columns: ['change without', 'with an entry', 'with a reported entry', 'reported entry', 'target', 'verdict'],
    rows: [[...[without, recorded, reported, cost].map((figure) => figure.toFixed(1)), ...atMost(cost, mostOfChange)]],
  }
}

const entries = 100_000
const pageLength = 500
const mostForFeed = 2_000

/** Reads the whole list of changes through the core of the service, without sockets. */
const measureFeed = async ({ database, stores }: Machine): Promise<Table> => {
  const record = createRecorder(database.connection, Date.now)
  for (let index = 0; index < entries; index += 1_000) {
    await database.write(() => {
      for (let more = 0; more < 1_000; more++) record(entry)
    })
  }
  const token = await fillDirectory(stores)
  const handler = storageOf(stores)
  const begun = performance.now()
  let read = 0
  let pages = 0
  for (let after: string | null = ''; after !== null; pages++) {
    const query: Readonly<Record<string, string>> = { after, limit: String(pageLength) }
    const answer = await send(handler, 'GET', `/api/v2/admin/sites/${site}/changes`, {
      headers: { Authorization: token },
      query,
    })
    const page = answer.json as { items: readonly object[]; next: string | null }
    read += page.items.length
    after = page.next
  }
  const took = performance.now() - begun
  return {
    title: 'The feed on one machine',
    columns: ['entries', 'pages', 'ms', 'target', 'verdict'],
    rows: [[read, pages, took.toFixed(0), ...atMost(took, mostForFeed)]],
  }
}

const table = 'journal' satisfies keyof typeof tables

/** Measures the capacity units of entries when several functions write to one site at the same time. */
const measureUnits = (functions: number, each: number) =>
  onTables(async (dynamodb) => {
    const journals = Array.from({ length: functions }, () => createJournal({ dynamodb, table, longestDelay: 60_000 }))
    for (const { record } of journals) await record(entry)
    const consumed = meter(dynamodb)
    await Promise.all(
      journals.map(async ({ record }) => {
        for (let index = 0; index < each; index++) await record(entry)
      }),
    )
    const { reads, readUnits, writeUnits } = consumed()
    // Dynalite does not report the capacity of a refused update, which is at least one unit and grows with the block. A
    // read follows each refused update.
    const refused = reads
    const per = (units: number) => (units / (functions * each)).toFixed(2)
    return { refused: per(refused), readUnits: per(readUnits), writeUnits: per(writeUnits + refused) }
  })

const countUnits = async (): Promise<Table> => {
  const rows: (string | number)[][] = []
  for (const functions of [1, 2, 8, 64]) {
    const { refused, readUnits, writeUnits } = await measureUnits(functions, 40)
    const target = functions === 1 ? `1 WCU: ${verdict(Number(writeUnits) <= 1)}` : ''
    rows.push([functions, refused, readUnits, writeUnits, target])
  }
  return {
    title: 'An entry on AWS',
    columns: ['functions that write to the site at once', 'refused updates', 'RCU', 'WCU', 'target'],
    rows,
  }
}

const filesToRestore = 5_000

/** Restores a removed folder of small files through the storage rules, without HTTP. */
const measureRestoreOf = async (stores: StorageStores): Promise<number> => {
  const { files } = stores
  const folder = toStoragePath('archive')
  const conditions = { absent: [], unlocked: { site, folders: [] } }
  for (let first = 0; first < filesToRestore; first += 100) {
    const changes = await Promise.all(
      Array.from({ length: 100 }, async (_, index): Promise<Change> => {
        const key = `live/${site}/archive/${first + index}.txt`
        return { kind: 'put', key, staged: await files.stage(contentOf(key), { key, contentType: 'text/plain' }) }
      }),
    )
    await files.place(changes, conditions, entry)
  }
  const removal = await stores.removals.open(site, folder, 'bench', entry)
  for await (const objects of listAll(files, `live/${site}/archive/`)) await files.remove(objects, undefined)
  await stores.removals.close(site, folder, removal, filesToRestore)
  const begun = performance.now()
  const scope = { site, rights: roles.owner.rights, level: 'write' } as const
  const requester = { ...scope, author: { actor: 'ann' }, deadline: unlimited, conditions: {} }
  await restore({ ...stores, reservedFolders: [], clock: systemClock }, folder, {}, requester)
  const took = performance.now() - begun
  let found = 0
  for await (const objects of listAll(files, `live/${site}/archive/`)) found += objects.length
  if (found !== filesToRestore) throw new Error(`${found} of ${filesToRestore} files have come back`)
  return took
}

async function* contentOf(key: string): AsyncGenerator<Buffer> {
  yield Buffer.from(key)
}

// S3 is at `AWS_ENDPOINT_URL` or in memory. The times of S3 in memory are not comparable with AWS.
const measureRestore = async (): Promise<Table> => {
  const machine = await onMachine(({ stores }) => measureRestoreOf(stores))
  const { bucket, connect } = await openTestBucket()
  const onAws = await onTables(async (dynamodb) => {
    const options = { dynamodb, table: 'pathLocks', record: unrecorded }
    const workflows = createWorkflows(options)
    const removals = createFolderRemovals(options)
    const files = openObjectStore({ bucket, connect }, { removals })
    return measureRestoreOf({ files, workflows, removals })
  })
  return {
    title: `The restore of a folder of ${filesToRestore.toLocaleString('en')} files`,
    columns: ['store', 'ms'],
    rows: [
      ['one machine', machine.toFixed(0)],
      [process.env['AWS_ENDPOINT_URL'] ? 'S3 (emulator)' : 'S3 (in memory)', onAws.toFixed(0)],
    ],
  }
}

export const history: Bench = async () => [
  await onMachine(measureEntry),
  await onMachine(measureFeed, { durable: false }),
  await countUnits(),
  await measureRestore(),
]
