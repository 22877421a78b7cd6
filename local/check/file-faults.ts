import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { DataDirectory } from '../data-directory.ts'
import { blobsOfUploads } from '../objects/tidy-blobs.ts'
import { everyObject, type Fault, hasTable } from './database-faults.ts'

/** An object that cannot be as it is. */
interface ObjectFault {
  readonly key: string
  /** What is wrong, as a sentence about the object. */
  readonly fault: string
}

const questions: readonly (readonly [query: string, fault: string])[] = [
  [
    "SELECT key FROM objects WHERE substr(key, -1) = '/' AND (blob IS NOT NULL OR size <> 0)",
    'it is a folder, and has bytes',
  ],
  ["SELECT key FROM objects WHERE substr(key, -1) <> '/' AND blob IS NULL", 'it is a file, and has no bytes'],
  [
    `SELECT key FROM objects AS file WHERE substr(key, -1) <> '/' AND EXISTS (
       SELECT 1 FROM objects AS below WHERE below.key >= file.key || '/' AND below.key < file.key || '0')`,
    'it is a file, and something lies below it',
  ],
  [
    "SELECT key FROM objects WHERE key NOT GLOB 'live/[0-9]*/*' AND key NOT GLOB 'draft/[0-9]*/*'",
    'it belongs to no site',
  ],
]

/** What is wrong with the rows of objects, whatever their bytes are. */
export function* checkObjects(connection: DatabaseSync): Generator<ObjectFault> {
  for (const [query, fault] of questions) {
    for (const { key } of connection.prepare(query).iterate()) yield { key: String(key), fault }
  }
}

interface Content {
  readonly key: string
  /** Under which name the bytes are kept. */
  readonly blob: string
  readonly size: number
  /** How many bytes the database holds itself; null when they are in a blob. */
  readonly held: number | null
}

const contentsOf = function* (connection: DatabaseSync): Generator<Content> {
  const rows = connection
    .prepare(
      `SELECT key, blob, size, length(small_contents.bytes) AS held
       FROM (${everyObject(connection)}) LEFT JOIN small_contents ON small_contents.name = blob WHERE blob IS NOT NULL`,
    )
    .iterate()
  for (const { key, blob, size, held } of rows) {
    yield {
      key: String(key),
      blob: String(blob),
      size: Number(size),
      held: held === null || held === undefined ? null : Number(held),
    }
  }
}

/** `live/1001/a/b.txt` in words. */
export const describe = (key: string): string => {
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

const faultOf = ({ blobs }: DataDirectory, { key, blob, size, held }: Content): Fault | undefined => {
  const file = join(blobs, blob)
  const found = held ?? statSync(file, { throwIfNoEntry: false })?.size
  const where = describe(key)
  if (found === undefined) return { where, fault: `its bytes are missing: ${file}. Upload it again, or put that back.` }
  if (found === size) return undefined
  return {
    where,
    fault: `it has ${size} bytes, of which ${found} are there: ${file}. Upload it again, or put that back.`,
  }
}

/** Whether a service takes uploads in, so that what nothing refers to may be one that is on its way; or else what the directory is. */
export type DirectoryUse = 'served' | 'at rest' | 'backup'

interface Options {
  /** What blobs there were before the database was read. */
  readonly before: ReadonlySet<string>
  readonly use: DirectoryUse
}

/** Files that cannot be as they are, files without their bytes, and bytes without a file. */
export const fileFaults = (
  connection: DatabaseSync,
  directory: DataDirectory,
  { before, use }: Options,
): readonly Fault[] => {
  const faults = Array.from(checkObjects(connection), ({ key, fault }): Fault => ({ where: describe(key), fault }))
  const unclaimed = new Set(before)
  for (const content of contentsOf(connection)) {
    unclaimed.delete(content.blob)
    const fault = faultOf(directory, content)
    if (fault) faults.push(fault)
  }
  for (const name of hasTable(connection, 'uploads') ? blobsOfUploads(connection) : []) unclaimed.delete(name)
  if (use === 'served') return faults
  const orphans = [...unclaimed].map((name) => ({
    where: join(directory.blobs, name),
    fault: use === 'backup' ? 'it belongs to no file.' : 'it belongs to no file. The next start moves it to orphans.',
  }))
  return [...faults, ...orphans]
}
