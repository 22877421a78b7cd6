import type { SiteId } from '../ids.ts'
import { root, type StoragePath } from './path.ts'

/**
 * Where things are in the object store: `live/<site>/<path>` and `draft/<site>/<path>`, a folder being `<path>/`. A StoragePath has no
 * `.` and `..`, so no key leads out of the site's own prefix.
 */
export type Area = 'live' | 'draft'

export const fileKey = (area: Area, site: SiteId, path: StoragePath): string => `${area}/${site}/${path}`

/** The folder itself, and the prefix of all that it holds. */
export const folderKey = (area: Area, site: SiteId, path: StoragePath): string =>
  path === root ? `${area}/${site}/` : `${area}/${site}/${path}/`

/** What a key is of: the path of a file, or of a folder, without the slash at its end. */
export const pathIn = (key: string): string => key.replace(/^[^/]*\/[^/]*\//, '').replace(/\/$/, '')
