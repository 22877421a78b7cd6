import { type ErrorName, ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'

declare const brand: unique symbol

/**
 * Segments joined by `/`, decoded and NFC-normalised, without a slash at either end (S-1). The empty path is the root.
 * Only this file makes one, so every StoragePath obeys the rules.
 */
export type StoragePath = string & { readonly [brand]: 'storage path' }

/** Bytes of UTF-8 (S-11, S-12). */
export const longestPath = 900
const longestSegment = 255

export const root = '' as StoragePath

/** Control characters, backslash, and lone surrogates, which are not text (S-10). */
const forbidden = /[\p{Cc}\\\p{Cs}]/u

const fault = (name: ErrorName, message: string) => new ServiceError(name, { message })

const checked = (segments: readonly string[]): StoragePath => {
  for (const segment of segments) {
    if (segment === '.' || segment === '..') throw fault('urlInvalid', 'A path has no "." or ".." segments.')
    if (forbidden.test(segment)) throw fault('urlInvalid', 'A name has no control characters and no backslash.')
    if (Buffer.byteLength(segment) > longestSegment) {
      throw fault('nameTooLong', `A name has at most ${longestSegment} bytes in UTF-8.`)
    }
  }
  const path = segments.join('/')
  if (Buffer.byteLength(path) > longestPath) {
    throw fault('urlInvalid', `A path has at most ${longestPath} bytes in UTF-8.`)
  }
  return path as StoragePath
}

/**
 * A path that is already decoded, as a person types it or a store gives it back. A run of slashes counts as one, in
 * front and at the end too: many clients put a slash between what has one already (S-1). Errors: urlInvalid,
 * nameTooLong.
 */
export const toStoragePath = (text: string): StoragePath =>
  checked(
    text
      .normalize('NFC')
      .split('/')
      .filter((segment) => segment !== ''),
  )

/**
 * The path that the rest of a URL names: percent-decoded exactly once, so that `%2F` separates like any other slash,
 * and checked after that (S-1). Errors: urlInvalid, nameTooLong.
 */
export const parsePath = (encoded: string): StoragePath => {
  let decoded: string
  try {
    decoded = decodeURIComponent(encoded)
  } catch {
    throw fault('urlInvalid', 'The path is not well-formed: a percent sign stands alone or its bytes are not UTF-8.')
  }
  return toStoragePath(decoded)
}

/** One name, as a rename or a folder's child has it. Errors: urlInvalid, nameTooLong, nameRequired. */
export const parseName = (text: string): string => {
  if (text === '') throw new ServiceError('nameRequired')
  if (text.includes('/')) throw fault('urlInvalid', 'A name is one segment: it has no slash.')
  return checked([text.normalize('NFC')])
}

/** The name that a part of an upload gives its file: what follows the last `/` or `\`. Errors as of parseName. */
export const parseFileName = (text: string): string =>
  parseName(text.slice(Math.max(text.lastIndexOf('/'), text.lastIndexOf('\\')) + 1))

/** Errors: urlInvalid when the whole becomes too long. */
export const childOf = (folder: StoragePath, name: string): StoragePath => checked([...segmentsOf(folder), name])

export const segmentsOf = (path: StoragePath): readonly string[] => (path === root ? [] : path.split('/'))

/** The last segment; empty for the root. */
export const nameOf = (path: StoragePath): string => path.slice(path.lastIndexOf('/') + 1)

export const parentOf = (path: StoragePath): StoragePath =>
  path.slice(0, Math.max(path.lastIndexOf('/'), 0)) as StoragePath

export const ancestorsOf = (path: StoragePath): readonly StoragePath[] => {
  const segments = segmentsOf(path)
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/') as StoragePath)
}

export const encodePath = (path: StoragePath): string => segmentsOf(path).map(encodeURIComponent).join('/')

/**
 * Keys in the object store: `live/<site>/<path>` and `draft/<site>/<path>`; a folder is `<path>/`. A StoragePath has no
 * `.` and `..`, so no key leaves the prefix of its site (S-16).
 */
export const areas = ['live', 'draft'] as const
export type Area = (typeof areas)[number]

export const fileKey = (area: Area, site: SiteId, path: StoragePath): string => `${area}/${site}/${path}`

export const folderKey = (area: Area, site: SiteId, path: StoragePath): string =>
  path === root ? `${area}/${site}/` : `${area}/${site}/${path}/`

/** The path of a file or folder, without a slash at its end. */
export const pathIn = (key: string): string => key.replace(/^[^/]*\/[^/]*\//, '').replace(/\/$/, '')
