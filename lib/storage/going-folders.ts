import { ServiceError } from '../errors.ts'
import type { SiteId } from '../ids.ts'
import type { PagesTable } from './pages-table.ts'
import { ancestorsOf, root, type StoragePath } from './path.ts'

/** Folders that are being removed, as seen at one moment. Who puts something in place looks before, and once more after it. */
export interface FolderWatch {
  /** Whether a removal of one of the folders has begun since: it may have taken along what was put there. */
  hasChanged(): Promise<boolean>
}

/** Looks at every folder that the paths lie in, or may be. Errors: folderGoing. */
export const watchFolders = async (
  pages: PagesTable,
  site: SiteId,
  paths: readonly StoragePath[],
): Promise<FolderWatch> => {
  const folders = [...new Set(paths.flatMap((path) => [...ancestorsOf(path), path]))].filter((path) => path !== root)
  const before = await pages.removalsOf(site, folders)
  if (before.some(({ open }) => open)) throw new ServiceError('folderGoing')
  const known = new Set(before.map(({ id }) => id))
  return {
    async hasChanged() {
      const after = await pages.removalsOf(site, folders)
      return after.some(({ id }) => !known.has(id))
    },
  }
}
