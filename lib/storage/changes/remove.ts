import { randomUUID } from 'node:crypto'
import { ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import { reserves } from '../../core/time.ts'
import { isUnconditional, refusalOf } from '../conditions.ts'
import { continueRemoval } from '../continue-removal.ts'
import { isPage } from '../file-kind.ts'
import type { ListedObject, ObjectInfo, ObjectStore, RemovalTask } from '../object-store.ts'
import { longestListing } from '../object-store.ts'
import { editions, fileKey, folderKey, isReserved, root, type StoragePath } from '../path.ts'
import type { OpenRemoval, RemovalQueue } from '../path-locks.ts'
import { type Refusals, refuse } from '../refusals.ts'
import { resolveParent } from '../resolve-path.ts'
import { type ChangeDeps, change, type FolderRemoval, type Plan, type Requester } from './change.ts'
import { findFile, isBelowFile, isInWorkflow, openLocks } from './look.ts'

interface RemoveDeps extends ChangeDeps {
  readonly removalQueue: RemovalQueue
}

interface RemovalRequester extends Requester {
  readonly draftOnly: boolean
  readonly withContents: boolean
}

interface SeenRemoval {
  readonly site: SiteId
  readonly path: StoragePath
  readonly open: readonly OpenRemoval[]
  readonly live?: ObjectInfo | undefined
  readonly draft?: ObjectInfo | undefined
  /** `objects` is undefined if the folder has too many. `since` is a moment before the objects were listed. */
  readonly folder?: { readonly objects: readonly ListedObject[] | undefined; readonly since: number }
}

export const refusalsAt = (path: StoragePath, open: readonly OpenRemoval[]): Refusals => [
  path === root && new ServiceError('nameRequired', { message: 'The root cannot be deleted. Name a folder.' }),
  // If a folder is already being removed, a request for this very folder continues the removal.
  open.some((one) => one.path !== path || one.isRestoreLock) && 'folderLocked',
]

const planRemoval = (seen: SeenRemoval, { draftOnly, conditions }: RemovalRequester): Plan => {
  const { site, path, live, draft, folder } = seen
  const [open] = seen.open
  if (open) return { folder: path, open }
  if (folder) {
    const { objects, since } = folder
    if (!objects) return { folder: path }
    const entry = { type: 'folder.removed', subject: path, details: { count: objects.length } } as const
    return { objects, entry, removedFolder: { site, folder: path, since } }
  }
  const objects = (draftOnly && isPage(path) ? [draft] : [live, draft]).filter((version) => version !== undefined)
  const page = isPage(path) && !draftOnly ? editions.map((edition) => fileKey(edition, site, path)) : undefined
  const entry = { type: 'file.removed', subject: path } as const
  if (isUnconditional(conditions)) return { objects, page, entry }
  if (objects.length === 0) return 'nothing'
  return {
    paths: [path],
    changes: objects.map(({ key }) => ({ kind: 'remove', key })),
    absent: [],
    matching: [
      { key: fileKey('live', site, path), version: live?.version },
      ...(isPage(path) ? [{ key: fileKey('draft', site, path), version: draft?.version }] : []),
    ],
    entry,
  }
}

const pagesInRequest = 2

const listPages = async (files: ObjectStore, prefix: string) => {
  const found: ListedObject[] = []
  let after: string | undefined
  for (let page = 1; page <= pagesInRequest; page++) {
    const { objects, next } = await files.list({ prefix, after, folded: false, limit: longestListing })
    found.push(...objects)
    if (next === undefined) return found
    after = next
  }
  return undefined
}

const listSmall = async ({ files }: RemoveDeps, site: SiteId, folder: StoragePath) => {
  const prefixes = editions.map((edition) => folderKey(edition, site, folder))
  const [live, draft] = await Promise.all(prefixes.map((prefix) => listPages(files, prefix)))
  if (!live || !draft || live.length + draft.length > pagesInRequest * longestListing) return undefined
  return [...live, ...draft]
}

// Each step costs calls, so the first refusal ends the checks.
const lookAtFolder = async (deps: RemoveDeps, seen: SeenRemoval, options: RemovalRequester): Promise<SeenRemoval> => {
  const { site, path } = seen
  const { conditions } = options
  const self = folderKey('live', site, path)
  if (!isUnconditional(conditions)) {
    const isFolder = await deps.files.exists(self)
    const isInFile = !isFolder && (await isBelowFile(deps, site, path))
    refuse([isInFile && 'pathUnknown', refusalOf(conditions, isFolder ? 'folder' : undefined)])
  }
  refuse([isReserved(deps.reservedFolders, path) && 'folderReserved'])
  const since = deps.clock.wall()
  const objects = await listSmall(deps, site, path)
  if (objects?.length === 0) {
    const found = options.isCaseSensitive ? path : await resolveParent(deps.files, options, path)
    if (found !== path) return lookAtRemoval(deps, found, { ...options, isCaseSensitive: true })
    refuse([(await isBelowFile(deps, site, path)) && 'pathUnknown', 'fileUnknown'])
  }
  refuse([!options.withContents && !objects?.every(({ key }) => key === self) && 'folderNotEmpty'])
  refuse([(await deps.workflows.isRunningBelow(site, path)) && 'workflowDeleted'])
  return { ...seen, folder: { objects, since } }
}

const lookAtRemoval = async (deps: RemoveDeps, path: StoragePath, options: RemovalRequester): Promise<SeenRemoval> => {
  const { site } = options
  const open = path === root ? [] : await openLocks(deps, site, [path])
  refuse(refusalsAt(path, open))
  if (open.length > 0) return { site, path, open }
  const { live, draft } = await findFile(deps, site, path)
  const seen = { site, path, open, live, draft }
  if (!live && !draft) return lookAtFolder(deps, seen, options)
  refuse([refusalOf(options.conditions, options.draftOnly ? (draft ?? live) : live)])
  refuse([(await isInWorkflow(deps, site, [path])) && 'workflowDeleted'])
  return seen
}

// In seconds. On AWS, every request has ended after this time.
const takeoverDelay = 30

// In milliseconds before the answer (S-102).
const longestWork = 20_000

const removeInSteps = async (deps: RemoveDeps, { folder, open }: FolderRemoval, requester: Requester) => {
  const { site, author, deadline } = requester
  if (open?.hasWorker) return 'pending'
  const task: RemovalTask = { site, path: folder, id: open?.id ?? randomUUID() }
  // The message is sent first: a message without a removal is harmless, but a removal without a message might never
  // end.
  const name = await deps.removalQueue.send(task, takeoverDelay)
  if (!open) {
    const entry = { ...author, site, type: 'folder.removed', subject: folder } as const
    if ((await deps.removals.open(site, folder, task.id, entry, deadline)) !== task.id) return 'pending'
  }
  const end = Math.min(deadline.timeLeft(), takeoverDelay * 1000)
  const work = deadline.reserving(reserves.removal).within(longestWork, deps.clock.monotonic)
  const rest = await continueRemoval(deps, { task, name }, work, end)
  return open || rest ? 'pending' : 'removed'
}

/** Removes a file with its draft, a draft, or a folder with its contents (S-91 to S-103). */
export const remove = async (deps: RemoveDeps, path: StoragePath, options: RemovalRequester) => {
  const seen = await lookAtRemoval(deps, path, options)
  const again = () => lookAtRemoval(deps, path, options)
  const removal = await change(deps, seen, (now) => planRemoval(now, options), options, again)
  return removal ? removeInSteps(deps, removal, options) : 'removed'
}
