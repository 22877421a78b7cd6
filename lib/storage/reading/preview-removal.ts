import { createDeadline, type Deadline, type RemainingTime, reserves } from '../../core/deadline.ts'
import { ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import { refusalIn, type StorageStores } from '../changes/change.ts'
import { isInWorkflow } from '../changes/look.ts'
import { findFile, isBelowFile, openRemovals, refusalsOfRemoval } from '../changes/remove.ts'
import { listAll, type ObjectStore } from '../object-store.ts'
import { areas, compareText, folderKey, isReserved, pathIn, root, type StoragePath } from '../path.ts'

interface PreviewDeps extends StorageStores {
  readonly reservedFolders: readonly string[]
}

export interface Preview {
  readonly files: number
  readonly folders: number
  readonly bytes: number
  readonly atLeast: boolean
  readonly code?: number
}

const mostCounted = 100_000

type Listing = Pick<ObjectStore, 'list'>

interface Counted {
  readonly path: string
  readonly isFolder: boolean
  readonly size: number
}

async function* objectsIn(store: Listing, prefix: string): AsyncGenerator<Counted, void> {
  for await (const objects of listAll(store, prefix)) {
    for (const { key, size } of objects) yield { path: pathIn(key), isFolder: key.endsWith('/'), size }
  }
}

async function* allBelow(store: Listing, site: SiteId, folder: StoragePath): AsyncGenerator<Counted, void> {
  const [live, drafts] = areas.map((area) => objectsIn(store, folderKey(area, site, folder)))
  if (!live || !drafts) return
  const orderOf = ({ path, isFolder }: Counted) => (isFolder ? `${path}/` : path)
  let [one, other] = await Promise.all([live.next(), drafts.next()])
  while (!one.done || !other.done) {
    const isLiveNext = other.done || (!one.done && compareText(orderOf(one.value), orderOf(other.value)) <= 0)
    if (isLiveNext && !one.done) {
      yield one.value
      one = await live.next()
    } else if (!other.done) {
      yield other.value
      other = await drafts.next()
    }
  }
}

const newFolders = (before: readonly string[], now: readonly string[]): number => {
  const different = now.findIndex((segment, index) => segment !== before[index])
  return different < 0 ? 0 : now.length - different
}

/** Counts files and folders as people see them; a draft counts as its page. Stops at 100,000 objects. */
export const countFolder = async (
  store: Listing,
  site: SiteId,
  folder: StoragePath,
  deadline: Pick<Deadline, 'isOver'>,
): Promise<Omit<Preview, 'code'>> => {
  let [files, folders, bytes, objects] = [0, 0, 0, 0]
  let last: string | undefined
  let around: readonly string[] = []
  const result = (atLeast: boolean) => ({ files, folders, bytes, atLeast })
  for await (const { path, isFolder, size } of allBelow(store, site, folder)) {
    if (objects === mostCounted || deadline.isOver()) return result(true)
    objects += 1
    bytes += size
    if (!isFolder && path !== last) files += 1
    if (!isFolder) last = path
    if (folders === 0) folders = 1
    const below = path.slice(folder.length).split('/').filter(Boolean)
    const now = isFolder ? below : below.slice(0, -1)
    folders += newFolders(around, now)
    around = now
  }
  return result(false)
}

/** Counts the contents and names the refusal of a removal. Errors: fileUnknown, pathUnknown, unavailable. */
export const previewRemoval = async (
  deps: PreviewDeps,
  site: SiteId,
  path: StoragePath,
  remainingTime: RemainingTime,
): Promise<Preview> => {
  const { files, reservedFolders } = deps
  const [{ live, draft }, open] = await Promise.all([findFile(deps, site, path), openRemovals(deps, site, path)])
  const isFile = live !== undefined || draft !== undefined
  const deadline = createDeadline(remainingTime, reserves.preview)
  const ofFile = { files: 1, folders: 0, bytes: (live?.size ?? 0) + (draft?.size ?? 0), atLeast: false }
  const counting = isFile ? Promise.resolve(ofFile) : countFolder(files, site, path, deadline)
  const counted = await counting.finally(deadline.end)
  if (!isFile && path !== root && counted.folders === 0) {
    throw new ServiceError((await isBelowFile(deps, site, path)) ? 'pathUnknown' : 'fileUnknown')
  }
  const seen = { site, path, open, live, draft, isReserved: !isFile && isReserved(reservedFolders, path) }
  const isRunning = () => (isFile ? isInWorkflow(deps, site, [path]) : deps.workflows.isRunningBelow(site, path))
  const refusal =
    refusalIn(refusalsOfRemoval(seen)) ?? refusalIn(refusalsOfRemoval({ ...seen, isInWorkflow: await isRunning() }))
  return { ...counted, ...(refusal && { code: refusal.code }) }
}
