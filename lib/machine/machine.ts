import { type Clock, systemClock, unlimited } from '../core/time.ts'
import { createLiveChanges } from '../history/live-changes.ts'
import type { Stores } from '../service/stores.ts'
import { continueRemoval } from '../storage/continue-removal.ts'
import { createIsHeld, holdForBackups } from './backup/holds.ts'
import { recordRemovedDemo } from './directory/demo-file.ts'
import { createMeasures } from './directory/inspect.ts'
import { cannotBeOpened, type OpenDataDirectory, type Opening, openDataDirectory } from './directory/open-directory.ts'
import { openBlobs } from './objects/blobs.ts'
import { createObjectStore, type LocalObjectStore } from './objects/object-store.ts'
import { removeOldOrphans, tidyBlobs } from './objects/tidy-blobs.ts'
import { createUploadParts, createUploadSweep } from './objects/upload-parts.ts'
import type { Database } from './sqlite/database.ts'
import { createAccessValues, createPeople, createSignInAttempts, openLinkSecret } from './tables/access.ts'
import { createCategoryLinks } from './tables/category-links.ts'
import { createContents } from './tables/contents.ts'
import { createGrants, createSiteDirectory, createSiteUsage } from './tables/directory-stores.ts'
import { createChangeWatch, createHistory, createRecorder, type RecordChange } from './tables/history.ts'
import { createFolderRemovals, createWorkflows } from './tables/path-locks.ts'
import { createRemovalQueue } from './tables/removal-queue.ts'
import { createSweeps } from './tables/sweeps.ts'
import { createUploadProgress, createUploadRecords } from './tables/uploads.ts'
import { createWebForms } from './tables/web-forms.ts'
import { createWebhooks, unsealed } from './tables/webhooks.ts'

// V-24.
const listeners = { perSite: 1_000, inAll: 2_000 }

export const createTableStores = (database: Database, clock: Clock = systemClock) => {
  const changeWatch = createChangeWatch(database)
  const record = createRecorder(database.connection, clock.wall, changeWatch)
  const history = createHistory(database, changeWatch)
  return {
    record,
    sites: createSiteDirectory(database, record),
    grants: createGrants(database, record),
    ...createAccessValues(database, record, clock),
    people: createPeople(database, record),
    attempts: createSignInAttempts(database, clock),
    webForms: createWebForms(database, record),
    contents: createContents(database, record),
    links: createCategoryLinks(database, record),
    workflows: createWorkflows(database, record),
    removals: createFolderRemovals(database, record, clock),
    removalQueue: createRemovalQueue(database),
    progress: createUploadProgress(database, clock),
    uploadRecords: createUploadRecords(database, clock),
    history,
    live: createLiveChanges(history, listeners),
    usage: createSiteUsage(database),
    webhooks: createWebhooks(database, record, changeWatch),
    seals: unsealed,
  } satisfies Omit<Stores, 'files' | 'uploadParts'> & { readonly record: RecordChange }
}

type TableStores = ReturnType<typeof createTableStores>

interface Options extends Partial<Opening> {
  /** In milliseconds, for replaced and removed files: 30 days by default (H-14). */
  readonly keptFor?: number
  readonly clock?: Clock
}

const defaultRetention = 30 * 24 * 3600 * 1000

interface StoreDeps extends Required<Omit<Options, 'reset'>>, Pick<OpenDataDirectory, 'directory' | 'database'> {}

// In milliseconds: a lease on a removal expires after this time if its worker fails without ending the lease.
const longestSlice = 60_000

// Completes the work that an earlier process has left. Only the service may do this.
const putInOrder = async (
  { directory, database, clock }: StoreDeps,
  { contents, removalQueue, removals }: Pick<TableStores, 'contents' | 'removalQueue' | 'removals'>,
  files: LocalObjectStore,
) => {
  const now = clock.wall()
  const isHeld = createIsHeld(database.connection)(now)
  const { withoutFingerprint, ...tidied } = tidyBlobs(database.connection, directory, { now, isHeld })
  await contents.finishRemovals()
  await removalQueue.start((message, slice) => {
    const deadline = unlimited.within(slice, clock.monotonic)
    return continueRemoval({ files, removals, clock }, message, deadline, longestSlice)
  })
  withoutFingerprint.forEach(files.makeFingerprint)
  return tidied
}

const hour = 60 * 60 * 1000

// Runs a sweep now, and then every hour. No request waits for it. After a failure, the next run repeats the work.
const runHourly = (sweep: () => Promise<void>): NodeJS.Timeout => {
  const run = () => void sweep().catch(() => {})
  run()
  return setInterval(run, hour).unref()
}

const openStores = async (deps: StoreDeps) => {
  const { directory, database, role, durable, clock } = deps
  const { record, ...tables } = createTableStores(database, clock)
  const isHeld = createIsHeld(database.connection)
  using opened = new DisposableStack()
  const held = holdForBackups(openBlobs(directory, { durable }), () => isHeld(clock.wall()))
  const blobs = opened.adopt(held, ({ close }) => close())
  const files = createObjectStore({ database, blobs, record, now: clock.wall })
  const sweepUploads = createUploadSweep({ database, blobs, now: clock.wall })
  // Expired uploads are removed first, so that no row refers to their blobs when `putInOrder` runs.
  if (role === 'service') await sweepUploads()
  const giveUpOld = () => files.giveUp(clock.wall() - deps.keptFor)
  const linkSecret = await openLinkSecret(database)
  const tidied = role === 'service' ? await putInOrder(deps, tables, files) : undefined
  const sweepOrphans = async () => removeOldOrphans(directory.orphans, clock.wall())
  const sweeps = [sweepUploads, giveUpOld, sweepOrphans, ...createSweeps(database, clock.wall, deps.keptFor)]
  // The hourly sweeps start after the blobs are in order, so that no blob is removed while it is being moved to the
  // orphans.
  const timers = role === 'service' ? sweeps.map(runHourly) : []
  opened.move()
  return {
    ...tables,
    sites: recordRemovedDemo(tables.sites, directory),
    files,
    uploadParts: createUploadParts({ database, blobs, files, now: clock.wall }),
    linkSecret,
    tidied,
    async stop() {
      timers.forEach(clearInterval)
      await Promise.all([tables.removalQueue.stop(), files.stop()])
      blobs.close()
    },
  } satisfies Stores & Readonly<Record<string, unknown>>
}

export type LocalStores = Awaited<ReturnType<typeof openStores>>

export const openMachine = async (path: string, options: Options = {}) => {
  const { role = 'command', reset = false, durable = true, keptFor = defaultRetention, clock = systemClock } = options
  const { directory, database, close } = await openDataDirectory(path, { role, reset, durable })
  const measures = createMeasures(directory, database)
  try {
    const stores = await openStores({ directory, database, role, durable, keptFor, clock })
    return {
      directory,
      database,
      stores,
      measures,
      async close() {
        await stores.stop()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw cannotBeOpened(directory, error)
  }
}

export type Machine = Awaited<ReturnType<typeof openMachine>>
