import type { Dropped, Given } from './dropped.ts'
import type { KeptUpload } from './kept-uploads.ts'
import { nameOf, partsOf } from './paths.ts'
import type { FoundUpload, Uploads } from './uploads.ts'

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
  const found: FoundUpload[] = []
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

/** Continues interrupted uploads with the given files. Returns the number of missing files. */
export const resumeInterrupted = (uploads: Uploads, { files }: Given): number => {
  const { found, missing } = match(uploads.interrupted.value, files)
  uploads.resumeFound(found, missing)
  return missing.length
}
