import { ServiceError } from '../../core/errors.ts'
import { checkConditions } from '../conditions.ts'
import { isPage } from '../file-kind.ts'
import { longestListing, type ObjectStore, type ObjectVersion } from '../object-store.ts'
import { editions, fileKey, folderKey, isReserved, root, type StoragePath } from '../path.ts'
import { refuse, storageRefused } from '../refusals.ts'
import type { ChangeDeps, Requester } from './change.ts'
import { isInWorkflow, lockPath, openLocks } from './look.ts'
import { unknownVersion } from './restore.ts'

const mostAtOnce = 10_000

const unfinished = (count: number, wait: number) =>
  new ServiceError('unavailable', {
    message: `The service has purged ${count} versions so far. To purge the rest, repeat the request after the time in Retry-After.`,
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(wait / 1000))) },
  })

const listVersions = async (files: ObjectStore, key: string, wanted: string | undefined) => {
  const versions: (ObjectVersion & { readonly key: string })[] = []
  for (let after: string | undefined; ; ) {
    const page = await files.versions(key, { after, limit: longestListing, forPurge: true })
    if (!page) return { versions, isWhole: false }
    versions.push(...page.versions.map((version) => ({ ...version, key })))
    after = page.next
    const isEnough = wanted === undefined ? versions.length >= mostAtOnce : versions.some(({ id }) => id === wanted)
    if (after === undefined || isEnough) return { versions, isWhole: after === undefined || wanted !== undefined }
  }
}

const lookAtVersions = async (
  deps: ChangeDeps,
  path: StoragePath,
  wanted: string | undefined,
  { site, conditions }: Requester,
  ownLock?: string,
) => {
  const { files, reservedFolders } = deps
  const kinds = isPage(path) && wanted === undefined ? editions : (['live'] as const)
  // The versions are listed before the checks. So a version that somebody replaces after the checks is not purged.
  const listed = await Promise.all(kinds.map((edition) => listVersions(files, fileKey(edition, site, path), wanted)))
  const all = listed.flatMap(({ versions }) => versions)
  const named = all.find(({ id }) => id === wanted)
  const isWhole = listed.every((one) => one.isWhole)
  const [open, checked, isFolder, isRunning] = await Promise.all([
    openLocks(deps, site, [path]),
    checkConditions(files, site, [path], false, conditions),
    all.length === 0 && files.exists(folderKey('live', site, path)),
    isInWorkflow(deps, site, [path]),
  ])
  refuse([
    open.some(({ id }) => id !== ownLock) && 'folderLocked',
    checked.refusal,
    all.length === 0 && isReserved(reservedFolders, path) && 'folderReserved',
    all.length === 0 && (isFolder ? 'notAFile' : 'fileUnknown'),
    wanted !== undefined && !named && (isWhole ? unknownVersion() : unfinished(0, 0)),
    named?.isCurrent &&
      storageRefused('This version is the present file. Delete the file, or name one of its old versions.'),
    isRunning && 'workflowDeleted',
  ])
  const versions = named ? [named] : all.filter(({ isCurrent }) => !isCurrent)
  return { versions, isWhole, hidden: versions.filter(({ hiddenBy }) => hiddenBy).length }
}

const deleteListed = async (
  { files, clock }: ChangeDeps,
  path: StoragePath,
  { versions, isWhole }: Awaited<ReturnType<typeof lookAtVersions>>,
  { site, author, deadline }: Requester,
): Promise<void> => {
  const now = clock.wall()
  const ripe = versions.filter(({ neededUntil = 0 }) => neededUntil <= now)
  const entry = { ...author, site, type: 'file.purged', subject: path } as const
  const left = ripe.length > 0 ? await files.purge(ripe, entry, deadline) : 0
  const wait = left > 0 ? 0 : Math.max(0, ...versions.map(({ neededUntil = 0 }) => neededUntil - now))
  if (left > 0 || wait > 0 || !isWhole) throw unfinished(ripe.length - left, isWhole ? wait : 0)
}

/** H-30: deletes old versions of a file for good: all old versions, or only the wanted version. */
export const purge = async (deps: ChangeDeps, path: StoragePath, wanted: string | undefined, requester: Requester) => {
  refuse([path === root && new ServiceError('nameRequired', { message: 'Name the file to purge.' })])
  const listed = await lookAtVersions(deps, path, wanted, requester)
  if (listed.hidden === 0) return deleteListed(deps, path, listed, requester)
  // While the lock exists, no restore can bring a purged version back. A restore that began before the lock undoes
  // itself.
  await using lock = await lockPath(deps, path, requester)
  const locked = await lookAtVersions(deps, path, wanted, requester, lock.id)
  if (locked.hidden < listed.hidden) throw unfinished(0, 0)
  await deleteListed(deps, path, locked, { ...requester, deadline: lock.deadline })
}
