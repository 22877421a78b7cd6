import type { Store } from '../parts/stores.ts'
import type { Dropped } from './dropped.ts'
import { nameOf, partsOf } from './paths.ts'
import type { Upload } from './upload-list.ts'

/** The saved state of an unfinished upload. With it, the page recognises the file and continues the upload. */
export interface KeptUpload {
  readonly path: string
  readonly size: number
  /** In milliseconds since the epoch, by the clock of the user's device. */
  readonly modified: number
  /** The URL at which the upload continues. Undefined if no bytes were sent. */
  readonly address?: string | undefined
  /** The path with a number, if the address belongs to it. */
  readonly storedAs?: string | undefined
}

const mostKept = 2000

const isKept = (value: unknown): value is KeptUpload => {
  if (typeof value !== 'object' || value === null) return false
  const { path, size, modified, address, storedAs }: Partial<Record<keyof KeptUpload, unknown>> = value
  return (
    typeof path === 'string' &&
    typeof size === 'number' &&
    typeof modified === 'number' &&
    [address, storedAs].every((text) => text === undefined || typeof text === 'string')
  )
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Saves unfinished uploads for the tab. The page loses the files themselves in a reload, so the user must choose them
 * again.
 */
export const createKeptUploads = (store: Store, site: number) => {
  const key = `site-admin-uploads-${site}`
  return {
    read(): readonly KeptUpload[] {
      const found = parse(store.getItem(key) ?? '')
      return Array.isArray(found) ? found.filter(isKept).slice(0, mostKept) : []
    },
    write(
      interrupted: readonly KeptUpload[],
      uploads: readonly Pick<Upload, 'path' | 'file' | 'address' | 'storedAs'>[],
    ) {
      const left = uploads.slice(0, mostKept).map(({ path, file, address, storedAs }) => ({
        path,
        size: file.size,
        modified: file.lastModified,
        address,
        storedAs,
      }))
      const all = [...interrupted, ...left].slice(0, mostKept)
      if (all.length === 0) store.removeItem(key)
      else store.setItem(key, JSON.stringify(all))
    },
  }
}

const keyOf = (path: string, size: number, modified: number): string => `${size} ${modified} ${nameOf(path)}`

const commonParts = (one: string, other: string): number => {
  const [a, b] = [partsOf(one).toReversed(), partsOf(other).toReversed()]
  const differing = a.findIndex((part, index) => part !== b[index])
  return differing < 0 ? a.length : differing
}

/** Returns the entry with the highest score. Undefined if two entries share this score. */
const bestOf = <Each>(all: readonly Each[], score: (each: Each) => number): Each | undefined => {
  const highest = all.reduce((most, each) => Math.max(most, score(each)), 0)
  const best = all.filter((each) => score(each) === highest)
  return best.length === 1 ? best[0] : undefined
}

/**
 * Finds the files that the user has chosen again. Folders distinguish files that are otherwise equal. Leaves out a file
 * that is uncertain, because the end of one file must never be appended to another.
 */
export const match = (kept: readonly KeptUpload[], given: readonly Dropped[]) => {
  const keptByKey = Map.groupBy(kept, ({ path, size, modified }) => keyOf(path, size, modified))
  const givenByKey = Map.groupBy(given, ({ path, file }) => keyOf(path, file.size, file.lastModified))
  const found: { readonly kept: KeptUpload; readonly file: File }[] = []
  const missing: KeptUpload[] = []
  for (const each of kept) {
    const key = keyOf(each.path, each.size, each.modified)
    const dropped = bestOf(givenByKey.get(key) ?? [], ({ path }) => commonParts(path, each.path))
    const meant = dropped && bestOf(keptByKey.get(key) ?? [], ({ path }) => commonParts(path, dropped.path))
    if (dropped && meant === each) found.push({ kept: each, file: dropped.file })
    else missing.push(each)
  }
  return { found, missing }
}
