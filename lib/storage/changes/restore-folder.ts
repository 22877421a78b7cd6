import { ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import { reserves } from '../../core/time.ts'
import { checkFolder, isUnconditional } from '../conditions.ts'
import { listAll } from '../many-objects.ts'
import type { ObjectStore, Period, Restoration } from '../object-store.ts'
import {
  ancestorsOf,
  editions,
  folderIn,
  folderKey,
  foldersAround,
  parentOf,
  pathIn,
  root,
  type StoragePath,
} from '../path.ts'
import { refuse, storageRefused } from '../refusals.ts'
import { findAncestors } from '../resolve-path.ts'
import { type ChangeDeps, change, noFileAt, type Plan, type Requester } from './change.ts'
import { findTaken, isBelowFile, isLocked, lockPath } from './look.ts'

const mostObjects = 10_000

// In milliseconds: without a record, the removal is assumed to have taken this long.
const assumedLength = 60_000

export const nothingToRestore = () =>
  new ServiceError('fileUnknown', {
    message: 'No removed file or folder of this name is kept. ?deleted lists the kept ones.',
  })

const assumedRemoval = async ({ files, clock }: ChangeDeps, folder: StoragePath, { site, deadline }: Requester) => {
  const prefix = folderKey('live', site, folder)
  let last = 0
  let after: string | undefined
  do {
    deadline.reserving(reserves.restore).check()
    const { entries, next } = await files.listRemoved({ prefix, after, limit: 1_000 })
    for (const { removedAt } of entries) last = Math.max(last, removedAt)
    after = next
  } while (after !== undefined)
  return last === 0 ? [] : [{ from: last - assumedLength, to: Math.max(last, clock.wall()) }]
}

const mostNamed = 20

const tooMuch = (folder: StoragePath, changes: readonly Restoration[]): ServiceError => {
  const depth = folder === root ? 0 : folder.length + 1
  const below = changes.map(({ key }) => pathIn(key).slice(depth)).filter((path) => path.includes('/'))
  const names = [...new Set(below.map((path) => path.slice(0, path.indexOf('/'))))].slice(0, mostNamed)
  const advice =
    names.length === 0
      ? 'Restore its files one by one.'
      : `Restore its folders one by one, such as ${names.join(', ')}. ?deleted lists them.`
  return storageRefused(
    `This folder was removed with more than ${mostObjects} files and folders, too many for one restore. ${advice}`,
  )
}

const removedIn = async (files: ObjectStore, folder: StoragePath, period: Period, { site, deadline }: Requester) => {
  const found: Restoration[] = []
  for (const edition of editions) {
    for await (const some of files.removedWithin(folderKey(edition, site, folder), period)) {
      found.push(...some.map((one): Restoration => ({ ...one, kind: 'restore' })))
      if (found.length > mostObjects) throw tooMuch(folder, found)
      deadline.reserving(reserves.restore).check()
    }
  }
  return found
}

// On S3, an undone restore hides objects again, and their new removal is not in the recorded period of a folder above.
// Extends the record, so that the next restore of the folder finds them.
export const extendRecords = async (
  { files, removals }: Pick<ChangeDeps, 'files' | 'removals'>,
  site: SiteId,
  folders: readonly StoragePath[],
  isMeant: (period: Period) => boolean,
): Promise<void> => {
  for (const folder of folders) {
    const period = (await removals.lastOf(site, [folder])).find(isMeant)
    // In a folder that exists, other files may have been removed since.
    if (period && !(await files.exists(folderKey('live', site, folder))))
      await removals.note({ site, folder, since: period.from })
  }
}

const findClash = async (
  files: ObjectStore,
  folder: StoragePath,
  changes: readonly Restoration[],
  { site, deadline }: Requester,
): Promise<boolean> => {
  const isFile = (key: string) => !key.endsWith('/')
  const comingFiles = new Set(changes.flatMap(({ key }) => (isFile(key) ? pathIn(key) : [])))
  const comingFolders = new Set(foldersAround(changes.map(({ key }) => folderIn(key))))
  const present = new Set([folder])
  const isClash = (key: string) => {
    for (let one = folderIn(key); !present.has(one); one = parentOf(one)) {
      if (comingFiles.has(one)) return true
      present.add(one)
    }
    return isFile(key) && comingFolders.has(pathIn(key))
  }
  for (const edition of editions) {
    for await (const objects of listAll(files, folderKey(edition, site, folder))) {
      if (objects.some(({ key }) => isClash(key))) return true
      deadline.reserving(reserves.restore).check()
    }
  }
  return false
}

const findRestorations = async (
  deps: ChangeDeps,
  folder: StoragePath,
  known: readonly Period[],
  requester: Requester,
) => {
  const { files, removals } = deps
  const { site } = requester
  const last = await removals.lastOf(site, foldersAround([folder]))
  const find = async (some: readonly Period[]) => {
    for (const period of some) {
      const changes = await removedIn(files, folder, period, requester)
      if (changes.length > 0) return { since: period.from, changes }
    }
    return undefined
  }
  // If a folder above was removed again without this folder, its record tells nothing about this folder.
  let found = await find(last.length > 0 ? last : known)
  if (!found && !(await files.exists(folderKey('live', site, folder))))
    found = await find(await assumedRemoval(deps, folder, requester))
  if (!found) throw nothingToRestore()
  return found
}

/** Restores everything that the last removal of a folder removed (H-21). */
export const restoreFolder = async (
  deps: ChangeDeps,
  folder: StoragePath,
  periods: readonly Period[],
  { replace = false }: { readonly replace?: boolean | undefined },
  requester: Requester,
): Promise<void> => {
  const { site, conditions } = requester
  const { files, removals, workflows } = deps
  const known = periods.length > 0 ? periods : await assumedRemoval(deps, folder, requester)
  refuse([known.length === 0 && nothingToRestore()])
  const [isFolderLocked, isInFile, checked, isRunning] = await Promise.all([
    isLocked(deps, site, [folder]),
    !isUnconditional(conditions) && isBelowFile(deps, site, folder),
    checkFolder(files, site, folder, conditions),
    workflows.isRunningBelow(site, folder),
  ])
  refuse([isFolderLocked && 'folderLocked', isInFile && 'pathUnknown', checked.refusal, isRunning && 'workflowUpdated'])
  await using lock = await lockPath(deps, folder, requester)
  // Before the lock, others may have restored the folder and removed it again. A removal that has emptied the folder has
  // a period by then, so it is read last.
  const locked = { ...requester, deadline: lock.deadline }
  const noFile = noFileAt(site, [folder], 'destinationExists')
  const prefixes = replace ? [] : editions.map((edition) => folderKey(edition, site, folder))
  const look = async () => {
    const ancestors = await findAncestors(files, site, ancestorsOf(folder))
    const [taken, ...left] = await Promise.all([
      findTaken(files, [...noFile, ...noFileAt(site, ancestors.missing)]),
      ...prefixes.map((prefix) => files.exists(prefix)),
    ])
    const { since, changes } = await findRestorations(deps, folder, known, locked)
    refuse([left.includes(true) && 'destinationExists', ...taken])
    refuse([replace && (await findClash(files, folder, changes, locked)) && 'destinationExists'])
    return { ancestors, since, changes }
  }
  const planRestore = ({ ancestors, changes }: Awaited<ReturnType<typeof look>>): Plan => ({
    paths: [folder],
    changes,
    absent: [...noFile, ...prefixes.map((prefix) => [prefix, 'destinationExists'] as const)],
    ancestors,
    entry: { type: 'folder.restored', subject: folder, details: { count: changes.length } },
    lockId: lock.id,
  })
  const first = await look()
  const { since, changes } = first
  // On S3 there is only one attempt, because its undo changes the objects.
  const again = changes.some(({ hiddenBy }) => hiddenBy) ? undefined : look
  try {
    await change(deps, first, planRestore, locked, again)
  } catch (error) {
    await removals.note({ site, folder, since }).catch(() => {})
    await extendRecords(deps, site, ancestorsOf(folder), ({ from }) => from === since).catch(() => {})
    throw error
  }
}
