import type { SiteId } from '../core/ids.ts'
import type { StorageStores } from './engine.ts'
import { isPage } from './file-kind.ts'
import type { ObjectInfo } from './object-store.ts'
import { fileKey, folderKey, root, type StoragePath } from './path.ts'

type Stores = Pick<StorageStores, 'files' | 'workflows'>

/** What a page has beside its live file. */
export interface PageState {
  readonly draft: ObjectInfo | undefined
  readonly isInWorkflow: boolean
}

/** What a path names. */
export type Described<Listing> =
  | {
      readonly type: 'file'
      readonly info: ObjectInfo
      /** Of a page alone. */
      readonly page: PageState | undefined
    }
  | {
      readonly type: 'folder'
      /** When somebody created it, in milliseconds since the epoch. A folder that is there only because of what it holds has no such time. */
      readonly created: number | undefined
      readonly listing: Listing
    }

/** How what a folder holds is listed. */
interface Listing<Listed> {
  readonly list: () => Promise<Listed>
  /** Whether a listing that shows nothing proves that nothing is there. */
  readonly isFromStart: boolean
}

const describeFile = async ({ files, workflows }: Stores, site: SiteId, path: StoragePath) => {
  if (path === root) return undefined
  const find = (area: 'live' | 'draft') => files.find(fileKey(area, site, path))
  if (!isPage(path)) return { info: await find('live'), page: undefined }
  const [info, draft, isInWorkflow] = await Promise.all([
    find('live'),
    find('draft'),
    workflows.isRunning(site, [path]),
  ])
  return { info, page: { draft, isInWorkflow } }
}

/**
 * What a path names as it is written: a live file, or a folder with what `list` shows of it; undefined when neither is there (decisions.md,
 * section 5, `?meta`). Errors: those of `list`.
 */
export const describePath = async <Listed extends { readonly contents: readonly unknown[] }>(
  stores: Stores,
  site: SiteId,
  path: StoragePath,
  { list, isFromStart }: Listing<Listed>,
): Promise<Described<Listed> | undefined> => {
  const file = await describeFile(stores, site, path)
  if (file?.info) return { type: 'file', info: file.info, page: file.page }
  const { files } = stores
  const key = folderKey('live', site, path)
  const [marker, listing] = await Promise.all([path === root ? undefined : files.find(key), list()])
  const isProven = path === root || marker !== undefined || listing.contents.length > 0
  if (!isProven && (isFromStart || !(await files.exists(key)))) return undefined
  return { type: 'folder', created: marker?.modified, listing }
}
