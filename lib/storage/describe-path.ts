import type { SiteId } from '../core/ids.ts'
import type { StorageStores } from './engine.ts'
import { isPage } from './file-kind.ts'
import type { ObjectInfo } from './object-store.ts'
import { fileKey, folderKey, root, type StoragePath } from './path.ts'

type Stores = Pick<StorageStores, 'files' | 'workflows'>

export interface PageState {
  readonly draft: ObjectInfo | undefined
  readonly isInWorkflow: boolean
}

export type Described<Listing> =
  | {
      readonly type: 'file'
      readonly info: ObjectInfo
      readonly page: PageState | undefined
    }
  | {
      readonly type: 'folder'
      /** A folder that is there only because of what it holds has no such time. */
      readonly created: number | undefined
      readonly listing: Listing
    }

interface Listing<Listed> {
  readonly list: () => Promise<Listed>
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
 * A live file, or a folder with its listing (S-74 to S-77); undefined when nothing exists as written. Errors: those of
 * `list`.
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
