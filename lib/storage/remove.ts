import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { reserves } from '../core/deadline.ts'
import { type ErrorName, ServiceError } from '../core/errors.ts'
import type { Author, HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'
import { type Conditions, isUnconditional, requireConditions } from './conditions.ts'
import { continueRemoval } from './continue-removal.ts'
import {
  noFileAbove,
  type Placed,
  type Plan,
  place,
  type Requester,
  refuseOccupied,
  retry,
  type StorageStores,
} from './engine.ts'
import { isPage } from './file-kind.ts'
import { entryOfRemoval, type OpenRemoval, type RemovalQueue, type RemovalTask } from './folder-removals.ts'
import { type ListedObject, longestListing, type ObjectInfo } from './object-store.ts'
import { areas, fileKey, folderKey, isReserved, root, type StoragePath } from './path.ts'
import { type Found, findFile, isInWorkflow, openRemovals, refusalOf } from './removal-rules.ts'
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

export type RemoveOutcome = 'removed' | 'pending'

const refuse = (refusal: ErrorName | undefined): void => {
  if (refusal) throw new ServiceError(refusal)
}

export const planFileRemoval = (
  site: SiteId,
  path: StoragePath,
  { live, draft }: Found,
  { draftOnly, conditions = {} }: Pick<RemoveOptions, 'draftOnly' | 'conditions'>,
): Plan & { readonly versions: readonly ObjectInfo[] } => {
  requireConditions(conditions, draftOnly ? (draft ?? live) : live)
  const versions = (draftOnly && isPage(path) ? [draft] : [live, draft]).filter((version) => version !== undefined)
  return {
    versions,
    site,
    paths: [path],
    changes: versions.map(({ key }) => ({ kind: 'remove', key })),
    absent: [],
    matching: [
      { key: fileKey('live', site, path), version: live?.version },
      ...(isPage(path) ? [{ key: fileKey('draft', site, path), version: draft?.version }] : []),
    ],
    entry: { type: 'file.removed', subject: path },
  }
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

// Seconds. On AWS, every request has ended by then.
const takeoverDelay = 30

// Milliseconds before the answer (S-102).
const longestWork = 20_000

const workWithin = async (deps: RemoveDeps, task: RemovalTask, name: string, { deadline }: RemoveOptions) => {
  const end = Math.min(deadline.timeLeft(), takeoverDelay * 1000)
  const work = deadline.reserving(reserves.removal).within(longestWork, deps.clock.monotonic)
  return continueRemoval(deps, { task, name }, work, end)
}

const removeLargeFolder = async (
  deps: RemoveDeps,
  site: SiteId,
  path: StoragePath,
  options: RemoveOptions,
): Promise<RemoveOutcome> => {
  const task: RemovalTask = { site, path, id: randomUUID() }
  const { author, deadline } = options
  // The message comes first: without a removal on record it is harmless, while a removal without a message might never
  // end.
  const name = await deps.removalQueue.send(task, takeoverDelay)
  const entry = entryOf(site, path, author)
  if ((await deps.removals.open(site, path, task.id, entry, deadline)) !== task.id) return 'pending'
  return (await workWithin(deps, task, name, options)) ? 'pending' : 'removed'
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
  return 'pending'
}

const removeFolder = async (
  deps: RemoveDeps,
  site: SiteId,
  path: StoragePath,
  options: RemoveOptions,
): Promise<RemoveOutcome> => {
  const { files, reservedFolders, clock } = deps
  const seen = { path, open: [] }
  refuse(refusalOf({ ...seen, isReserved: isReserved(reservedFolders, path) }))
  const since = clock.wall()
  const objects = await listSmall(deps, site, path)
  if (objects?.length === 0) {
    const found = options.isCaseSensitive ? path : await resolveParent(files, site, path)
    if (found !== path) return remove(deps, site, found, { ...options, isCaseSensitive: true })
    await refuseOccupied(deps, noFileAbove(site, path))
    throw new ServiceError('fileUnknown')
  }
  refuse(refusalOf({ ...seen, isNotEmpty: !options.withContents && !isEmpty(objects, folderKey('live', site, path)) }))
  refuse(refusalOf({ ...seen, isInWorkflow: await isInWorkflow(deps, site, path, false) }))
  if (!objects) return removeLargeFolder(deps, site, path, options)
  const entry = entryOfRemoval(entryOf(site, path, options.author), objects.length)
  await files.remove(objects, entry, options.deadline, { site, folder: path, since })
  return 'removed'
}

/**
 * Removes a file with its draft, a draft, or a folder with its contents. Errors: nameRequired (the root), fileUnknown,
 * pathUnknown, folderLocked, conditionFailed, folderReserved, folderNotEmpty, workflowDeleted, unavailable.
 */
export const remove = async (
  deps: RemoveDeps,
  site: SiteId,
  path: StoragePath,
  options: RemoveOptions,
): Promise<RemoveOutcome> => {
  if (path === root) throw new ServiceError('nameRequired', { message: 'The root folder of a site cannot be deleted.' })
  const { author, conditions = {}, deadline } = options
  const open = await openRemovals(deps, site, path)
  refuse(refusalOf({ path, open }))
  const [same] = open
  if (same) return resume(deps, site, same, options)
  let outcome: RemoveOutcome = 'removed'
  await retry(async (): Promise<Placed> => {
    const found = await findFile(deps, site, path)
    if (!found.live && !found.draft) {
      await requireOfFolder(deps, site, path, conditions)
      outcome = await removeFolder(deps, site, path, options)
      return 'placed'
    }
    const plan = planFileRemoval(site, path, found, options)
    refuse(refusalOf({ path, open, isInWorkflow: await isInWorkflow(deps, site, path, true) }))
    if (!isUnconditional(conditions) && plan.versions.length > 0) return place(deps, plan, options)
    if (isUnconditional(conditions)) {
      await deps.files.remove(plan.versions, { ...author, site, ...plan.entry }, deadline)
    }
    return 'placed'
  })
  return outcome
}
