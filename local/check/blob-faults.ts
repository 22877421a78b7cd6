import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { DataDirectory } from '../data-directory.ts'
import { checkObjects } from '../objects/check-objects.ts'
import { objectsInBlobs } from '../objects/tidy-blobs.ts'
import type { Fault } from './fault.ts'

/** `live/1001/a/b.txt` in words. */
const describe = (key: string): string => {
  const [, area, site, path] = /^([^/]*)\/([^/]*)\/(.*)$/s.exec(key) ?? []
  if (area === undefined) return key
  return `site ${site}, ${area === 'live' ? 'file' : area} ${path}`
}

/** The names of the blobs that there are. */
export const namesOfBlobs = ({ blobs }: DataDirectory): ReadonlySet<string> => {
  try {
    return new Set(readdirSync(blobs))
  } catch {
    return new Set()
  }
}

interface Options {
  /** What blobs there were before the database was read. */
  readonly before: ReadonlySet<string>
  /** Whether a service takes uploads in: what nothing refers to may be one that is on its way. */
  readonly isServed: boolean
}

/** Files without their bytes, and bytes without a file. */
export const blobFaults = (
  connection: DatabaseSync,
  directory: DataDirectory,
  { before, isServed }: Options,
): readonly Fault[] => {
  const objects = Array.from(checkObjects(connection, directory), ({ subject, message }) => ({
    where: describe(subject),
    fault: message,
  }))
  if (isServed) return objects
  const unclaimed = new Set(before)
  for (const { blob } of objectsInBlobs(connection)) unclaimed.delete(blob)
  const orphans = Array.from(unclaimed, (name) => ({
    where: join(directory.blobs, name),
    fault: 'it belongs to no file. The next start moves it to orphans.',
  }))
  return [...objects, ...orphans]
}
