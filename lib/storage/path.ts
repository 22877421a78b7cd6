import { type ErrorName, ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { malformedPath, percentDecoded } from '../core/names.ts'
import {
  foldersBelow,
  forbiddenInPath,
  includesRight,
  type Level,
  longestPath,
  longestSegment,
  type Right,
  requireRight,
  segmentsIn,
} from '../core/rights.ts'

declare const brand: unique symbol

/** Segments joined by `/`, decoded, in NFC, without a slash at either end (S-1). The empty path is the root. */
export type StoragePath = string & { readonly [brand]: 'storage path' }

export const root = '' as StoragePath

const fault = (name: ErrorName, message: string) => new ServiceError(name, { message })

const checked = (segments: readonly string[]): StoragePath => {
  for (const segment of segments) {
    if (segment === '.' || segment === '..')
      throw fault('urlInvalid', 'A path cannot contain "." or ".." as a segment. Send the path without such segments.')
    if (forbiddenInPath.test(segment))
      throw fault('urlInvalid', 'A name cannot contain control characters or backslashes. Choose another name.')
    if (Buffer.byteLength(segment) > longestSegment) {
      throw fault('nameTooLong', `A name can have at most ${longestSegment} bytes in UTF-8. Choose a shorter name.`)
    }
  }
  const path = segments.join('/')
  if (Buffer.byteLength(path) > longestPath) {
    throw fault('urlInvalid', `A path can have at most ${longestPath} bytes in UTF-8. Choose a shorter path.`)
  }
  return path as StoragePath
}

/**
 * Reads a decoded path. Several slashes count as one, and slashes at either end do not count (S-1). Errors: urlInvalid,
 * nameTooLong.
 */
export const toStoragePath = (text: string): StoragePath => checked(segmentsIn(text))

/** A path that the service has found or stored. Other programs may have stored its names in another form than NFC. */
export const storedPath = (text: string): StoragePath => text as StoragePath

/** Decodes percent signs exactly once, then checks the path (S-1). Errors: urlInvalid, nameTooLong. */
export const parsePath = (encoded: string): StoragePath =>
  toStoragePath(percentDecoded(encoded, () => malformedPath('urlInvalid')))

/** Errors: urlInvalid, with the message, when the bytes are not UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array, message: string): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new ServiceError('urlInvalid', { message, cause })
  }
}

export const parseName = (text: string): string => {
  if (text === '') throw new ServiceError('nameRequired')
  if (text.includes('/')) throw fault('urlInvalid', 'A name cannot contain a slash. Choose another name.')
  return toStoragePath(text)
}

/** Drops the folders that some browsers send before the name. Errors: those of `parseName`. */
export const parseFileName = (text: string): string =>
  parseName(text.slice(Math.max(text.lastIndexOf('/'), text.lastIndexOf('\\')) + 1))

export const childOf = (folder: StoragePath, name: string): StoragePath => checked([...segmentsOf(folder), name])

export const segmentsOf = (path: StoragePath): readonly string[] => (path === root ? [] : path.split('/'))

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

export const parentOf = (path: StoragePath): StoragePath =>
  path.slice(0, Math.max(path.lastIndexOf('/'), 0)) as StoragePath

/** The paths from `path` up to the first folder below `folder`, the deepest first. */
const upTo = (folder: StoragePath, path: StoragePath): readonly StoragePath[] => {
  const found: StoragePath[] = []
  for (let one = path; one.length > folder.length; one = parentOf(one)) found.push(one)
  return found
}

export const ancestorsOf = (path: StoragePath): readonly StoragePath[] => upTo(root, path).slice(1).toReversed()

/** The paths with all folders above them, without the root. Thousands of deep paths cost only as much as their folders. */
export const foldersAround = (paths: readonly StoragePath[]): readonly StoragePath[] => {
  const found = new Set<StoragePath>()
  for (const path of paths) {
    const fresh: StoragePath[] = []
    for (let one = path; one !== root && !found.has(one); one = parentOf(one)) fresh.push(one)
    for (const one of fresh.toReversed()) found.add(one)
  }
  return [...found]
}

/** Two names are equal in this form if they differ only in case (S-4). */
export const foldCase = (name: string): string => name.normalize('NFC').toLowerCase()

/** The form for searches. In lower case, the last sigma of a word has another form (ς), and a text may end in a word. */
export const foldForSearch = (text: string): string => foldCase(text).replaceAll('ς', 'σ')

export const isReserved = (reservedFolders: readonly string[], folder: string): boolean =>
  reservedFolders.some((reserved) => foldCase(reserved) === foldCase(folder))

export const encodePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

// Keys of objects are `live/<site>/<path>`. The key of a folder ends in `/`. A path has no `..`, so it cannot leave its
// site (S-16).
export const editions = ['live', 'draft'] as const
export type Edition = (typeof editions)[number]

export const fileKey = (edition: Edition, site: SiteId, path: StoragePath): string => `${edition}/${site}/${path}`

export const folderKey = (edition: Edition, site: SiteId, path: StoragePath): string =>
  path === root ? `${edition}/${site}/` : `${edition}/${site}/${path}/`

/** The folder of a file's key, or the folder whose key this is. */
export const folderIn = (key: string): StoragePath => pathIn(key.slice(0, key.lastIndexOf('/') + 1))

export const pathIn = (key: string): StoragePath => key.replace(/^[^/]*\/[^/]*\//, '').replace(/\/$/, '') as StoragePath

/** The files of a site on which a caller has rights of this level. */
export interface Scope {
  readonly site: SiteId
  readonly rights: readonly Right[]
  readonly level: Level
}

const rightOn = ({ level }: Pick<Scope, 'level'>, path: StoragePath): Right => ({ area: 'files', level, folder: path })

export const isInScope = (scope: Omit<Scope, 'site'>, path: StoragePath): boolean =>
  includesRight(scope.rights, rightOn(scope, path))

export const requireScope = (scope: Omit<Scope, 'site'>, path: StoragePath): void =>
  requireRight(scope.rights, rightOn(scope, path))

export const ownFoldersBelow = (scope: Omit<Scope, 'site'>, path: StoragePath): readonly StoragePath[] =>
  foldersBelow(scope.rights, rightOn(scope, path)) as readonly StoragePath[]

/** the direct subfolders that belong to the caller, or lead to folders of the caller. */
export const foldersTowards = (scope: Omit<Scope, 'site'>, path: StoragePath): readonly StoragePath[] => [
  ...new Set(ownFoldersBelow(scope, path).flatMap((own) => upTo(path, own).slice(-1))),
]
