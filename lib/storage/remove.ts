import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import type { Author, HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import { type Conditions, isUnconditional, requireConditions } from './conditions.ts'
import { continueRemoval } from './continue-removal.ts'
import {
  mostAttempts,
  noFileAbove,
  type Plan,
  place,
  type Requester,
  refuseOccupied,
  type StorageStores,
} from './engine.ts'
import { isPage } from './file-kind.ts'
import {
  entryOfRemoval,
  noteRemoval,
  type OpenRemoval,
  type RemovalQueue,
  type RemovalTask,
} from './folder-removals.ts'
import { type ListedObject, longestListing, type ObjectInfo } from './object-store.ts'
import { ancestorsOf, areas, fileKey, folderKey, root, type StoragePath } from './path.ts'
import { refusalOf, refusalOfWorkflow, throwRefusal } from './removal-rules.ts'
import { resolveParent } from './resolve-path.ts'

export interface RemoveDeps extends StorageStores {
  readonly removalQueue: RemovalQueue
  readonly reservedFolders: readonly string[]
  readonly clock: Clock
}

export interface RemoveOptions extends Requester {
  readonly draftOnly: boolean
  readonly withContents: boolean
}

const entryOf = (site: SiteId, path: StoragePath, author: Author): HistoryEntry => ({
  ...author,
  site,
  type: 'folder.removed',
  subject: path,
})

export type RemoveOutcome = 'removed' | 'going on'

interface Versions {
  readonly live: ObjectInfo | undefined
  readonly draft: ObjectInfo | undefined
}

/**
 * Removes a file as it was found. Answers false when there is something else by now, and conditions were made: nothing
 * has changed.
 */
const removeFile = async (
  deps: RemoveDeps,
  site: SiteId,
  path: StoragePath,
  { live, draft }: Versions,
  options: RemoveOptions,
): Promise<boolean> => {
  const { draftOnly, author, remainingTime, conditions = {} } = options
  throwRefusal(await refusalOfWorkflow(deps, site, path, true))
  const versions = (draftOnly && isPage(path) ? [draft] : [live, draft]).filter((version) => version !== undefined)
  const entry = { type: 'file.removed', subject: path } as const
  if (isUnconditional(conditions)) {
    await deps.files.remove(versions, { ...author, site, ...entry }, remainingTime)
    return true
  }
  if (versions.length === 0) return true
  const plan: Plan = {
    site,
    paths: [path],
    changes: versions.map(({ key }) => ({ kind: 'remove', key })),
    absent: [],
    matching: [
      { key: fileKey('live', site, path), version: live?.version },
      ...(isPage(path) ? [{ key: fileKey('draft', site, path), version: draft?.version }] : []),
    ],
    entry,
  }
  const outcome = await place(deps, plan, options)
  if (outcome === 'late') throw new ServiceError('unavailable')
  return outcome === 'placed'
}

const requireOfFolder = async (
  deps: RemoveDeps,
  site: SiteId,
  path: StoragePath,
  conditions: Conditions,
): Promise<void> => {
  if (isUnconditional(conditions)) return
  const isFolder = await deps.files.exists(folderKey('live', site, path))
  if (!isFolder) await refuseOccupied(deps, noFileAbove(site, path))
  requireConditions(conditions, isFolder ? 'folder' : undefined)
}

const listSmall = async ({ files }: RemoveDeps, site: SiteId, folder: StoragePath) => {
  const listings = await Promise.all(
    areas.map((area) => files.list({ prefix: folderKey(area, site, folder), folded: false, limit: longestListing })),
  )
  if (listings.some(({ next }) => next !== undefined)) return undefined
  return listings.flatMap(({ objects }) => objects)
}

const isEmpty = (objects: readonly ListedObject[] | undefined, self: string): boolean =>
  objects?.every(({ key }) => key === self) ?? false

/** The queue takes over from a dead request after this time, in seconds. On AWS every request has ended by then. */
const takeoverDelay = 30

/** The longest work before the answer (S-102), and the time kept for the answer. In milliseconds. */
const longestWork = 20_000
const timeToAnswer = 3_000

const workWithin = async (deps: RemoveDeps, task: RemovalTask, name: string, { remainingTime }: RemoveOptions) => {
  const remaining = remainingTime()
  const deadline = deps.clock.monotonic() + Math.min(longestWork, remaining - timeToAnswer)
  return continueRemoval(deps, { task, name }, { deadline, end: Math.min(remaining, takeoverDelay * 1000) })
}

const removeLargeFolder = async (
  deps: RemoveDeps,
  site: SiteId,
  path: StoragePath,
  options: RemoveOptions,
): Promise<RemoveOutcome> => {
  const task: RemovalTask = { site, path, id: randomUUID() }
  const { author, remainingTime } = options
  // The message comes first: without a removal on record it is harmless, while a removal without a message might never
  // end.
  const name = await deps.removalQueue.send(task, takeoverDelay)
  const entry = entryOf(site, path, author)
  if ((await deps.removals.open(site, path, task.id, entry, remainingTime)) !== task.id) return 'going on'
  return (await workWithin(deps, task, name, options)) ? 'going on' : 'removed'
}

const resume = async (
  deps: RemoveDeps,
  site: SiteId,
  { path, id, isTended }: OpenRemoval,
  options: RemoveOptions,
): Promise<RemoveOutcome> => {
  if (!isTended) {
    const task: RemovalTask = { site, path, id }
    await workWithin(deps, task, await deps.removalQueue.send(task, takeoverDelay), options)
  }
  return 'going on'
}

const removeFolder = async (
  deps: RemoveDeps,
  site: SiteId,
  path: StoragePath,
  options: RemoveOptions,
): Promise<RemoveOutcome> => {
  throwRefusal(refusalOf({ path, open: [], reservedFolders: deps.reservedFolders }))
  const objects = await listSmall(deps, site, path)
  if (objects?.length === 0) {
    const found = options.isAsWritten ? path : await resolveParent(deps.files, site, path)
    if (found !== path) return remove(deps, site, found, { ...options, isAsWritten: true })
    await refuseOccupied(deps, noFileAbove(site, path))
    throw new ServiceError('fileUnknown')
  }
  if (!options.withContents && !isEmpty(objects, folderKey('live', site, path)))
    throw new ServiceError('folderNotEmpty')
  throwRefusal(await refusalOfWorkflow(deps, site, path, false))
  if (!objects) return removeLargeFolder(deps, site, path, options)
  const entry = entryOfRemoval(entryOf(site, path, options.author), objects.length)
  const from = deps.clock.wall()
  const note = (isPartial: boolean) =>
    noteRemoval(deps.removals, site, path, { from, to: deps.clock.wall() }, isPartial)
  try {
    await deps.files.remove(objects, entry, options.remainingTime)
  } catch (error) {
    await note(true)
    throw error
  }
  await note(false)
  return 'removed'
}

/**
 * Operation 14: removes a file with its draft, a draft alone, or a folder with all that it holds. Errors: nameRequired
 * (the root), fileUnknown, pathUnknown, folderGoing, conditionFailed, folderReserved, folderNotEmpty, workflowDeleted,
 * unavailable.
 */
export const remove = async (
  deps: RemoveDeps,
  site: SiteId,
  path: StoragePath,
  options: RemoveOptions,
): Promise<RemoveOutcome> => {
  if (path === root) throw new ServiceError('nameRequired', { message: 'The root folder of a site cannot be deleted.' })
  const open = await deps.removals.openOf(site, [...ancestorsOf(path), path])
  throwRefusal(refusalOf({ path, open, reservedFolders: [] }))
  const [same] = open
  if (same) return resume(deps, site, same, options)
  const { conditions = {}, draftOnly } = options
  for (let count = 0; count < mostAttempts; count++) {
    const [live, draft] = await Promise.all([
      deps.files.find(fileKey('live', site, path)),
      isPage(path) ? deps.files.find(fileKey('draft', site, path)) : undefined,
    ])
    if (!live && !draft) {
      await requireOfFolder(deps, site, path, conditions)
      return removeFolder(deps, site, path, options)
    }
    requireConditions(conditions, draftOnly ? (draft ?? live) : live)
    if (await removeFile(deps, site, path, { live, draft }, options)) return 'removed'
  }
  throw new ServiceError('unavailable')
}
