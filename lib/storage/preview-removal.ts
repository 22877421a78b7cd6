import { type ErrorName, errors, ServiceError } from '../errors.ts'
import type { SiteId } from '../ids.ts'
import type { RemainingTime } from '../remaining-time.ts'
import { isPage } from './file-kind.ts'
import { type ListedObject, listAll, type ObjectStore } from './object-store.ts'
import { ancestorsOf, fileKey, folderKey, pathIn, root, type StoragePath } from './path.ts'
import type { StorageStores } from './put-in-place.ts'

interface PreviewDeps extends StorageStores {
  readonly reservedFolders: readonly string[]
}

/** What a removal would take along. */
export interface Preview {
  /** Pages that have a draft alone are among them. */
  readonly files: number
  /** The folder itself is one of them. */
  readonly folders: number
  /** With the drafts. */
  readonly bytes: number
  /** Whether there is more, which was not counted. */
  readonly atLeast: boolean
  /** The code of the error that a removal would end with. */
  readonly code?: number
}

/** How many objects are counted, and what is left then of the time for the answer, in milliseconds. */
const mostCounted = 100_000
const timeToAnswer = 5_000

/** Counts objects as people see them: files by their paths, and every folder that one of them lies in, from `folder` on. */
const createCount = (folder: StoragePath) => {
  const files = new Set<string>()
  const folders = new Set<string>()
  let objects = 0
  let bytes = 0

  const addFolders = (path: string): void => {
    for (let at = path.length; at > folder.length; at = path.lastIndexOf('/', at - 1)) {
      const one = path.slice(0, at)
      if (folders.has(one)) return
      folders.add(one)
    }
    folders.add(folder)
  }

  return {
    add({ key, size }: ListedObject): void {
      objects += 1
      bytes += size
      const path = pathIn(key)
      const isFolder = key.endsWith('/')
      if (!isFolder) files.add(path)
      addFolders(isFolder ? path : path.slice(0, Math.max(path.lastIndexOf('/'), folder.length)))
    },
    isFull: () => objects >= mostCounted,
    result: () => ({ files: files.size, folders: folders.size, bytes }),
  }
}

/** Counts what a folder holds, drafts included, up to 100,000 objects. Errors: unavailable. */
export const countFolder = async (
  store: Pick<ObjectStore, 'list'>,
  site: SiteId,
  folder: StoragePath,
  remainingTime: RemainingTime,
): Promise<Omit<Preview, 'code'>> => {
  const count = createCount(folder)
  for (const area of ['live', 'draft'] as const) {
    for await (const objects of listAll(store, folderKey(area, site, folder))) {
      for (const object of objects) {
        if (count.isFull()) return { ...count.result(), atLeast: true }
        count.add(object)
      }
      if (remainingTime() < timeToAnswer) return { ...count.result(), atLeast: true }
    }
  }
  return { ...count.result(), atLeast: false }
}

const refusedBy = (name: ErrorName | undefined) => (name ? { code: errors[name].code } : {})

const previewFolder = async (
  { files, workflows, reservedFolders }: PreviewDeps,
  site: SiteId,
  folder: StoragePath,
  remainingTime: RemainingTime,
): Promise<Preview> => {
  const counted = await countFolder(files, site, folder, remainingTime)
  if (counted.folders === 0) throw new ServiceError('fileUnknown')
  if (folder === root) return { ...counted, ...refusedBy('nameRequired') }
  if (reservedFolders.includes(folder)) return { ...counted, ...refusedBy('folderReserved') }
  return { ...counted, ...refusedBy((await workflows.isRunningBelow(site, folder)) ? 'workflowDeleted' : undefined) }
}

/**
 * What the removal of a path would take along, and how it would be refused (decisions.md, section 10, `?removal`). Nothing is changed. Errors: fileUnknown,
 * unavailable.
 */
export const previewRemoval = async (
  deps: PreviewDeps,
  site: SiteId,
  path: StoragePath,
  remainingTime: RemainingTime,
): Promise<Preview> => {
  const { files, workflows, removals } = deps
  const find = (area: 'live' | 'draft') => (path === root ? undefined : files.find(fileKey(area, site, path)))
  const [live, draft, going] = await Promise.all([
    find('live'),
    isPage(path) ? find('draft') : undefined,
    removals.openOf(site, path === root ? [] : [...ancestorsOf(path), path]),
  ])
  const refused = going.length > 0 ? refusedBy('folderGoing') : {}
  if (!live && !draft) return { ...(await previewFolder(deps, site, path, remainingTime)), ...refused }
  const isRunning = isPage(path) && (await workflows.isRunning(site, [path]))
  return {
    files: 1,
    folders: 0,
    bytes: (live?.size ?? 0) + (draft?.size ?? 0),
    atLeast: false,
    ...refusedBy(isRunning ? 'workflowDeleted' : undefined),
    ...refused,
  }
}
