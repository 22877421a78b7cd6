import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { DataDirectory } from '../directory/data-directory.ts'
import { pathOfBlob } from '../objects/blobs.ts'
import { blobsOfUploads } from '../objects/tidy-blobs.ts'
import { everyObject } from '../sqlite/tables.ts'
import type { Fault } from './backup-marker.ts'
import { faultOfSize, notFile } from './verify-blobs.ts'

interface ObjectFault {
  readonly key: string
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
]

export function* checkObjects(connection: DatabaseSync): Generator<ObjectFault> {
  for (const [query, fault] of questions) {
    for (const { key } of connection.prepare(query).iterate()) yield { key: String(key), fault }
  }
}

/** The object that bytes belong to: a current one, or an earlier state from before it was replaced or removed. */
export interface Owner {
  readonly key: string
  readonly isEarlier: boolean
}

interface Content extends Owner {
  readonly blob: string
  readonly size: number
  /** Bytes in the database itself; null when they are in a blob. */
  readonly held: number | null
}

const contentsOf = function* (connection: DatabaseSync): Generator<Content> {
  const rows = connection
    .prepare(
      `SELECT key, is_earlier, blob, size, length(small_contents.bytes) AS held
       FROM (${everyObject}) LEFT JOIN small_contents ON small_contents.name = blob WHERE blob IS NOT NULL`,
    )
    .iterate()
  for (const { key, is_earlier, blob, size, held } of rows) {
    yield {
      key: String(key),
      isEarlier: is_earlier === 1,
      blob: String(blob),
      size: Number(size),
      held: held === null || held === undefined ? null : Number(held),
    }
  }
}

const anEarlierState = 'an earlier state of'

const describe = ({ key, isEarlier }: Owner): string => {
  const [, area, site, path] = /^([^/]*)\/([^/]*)\/(.*)$/s.exec(key) ?? []
  if (area === undefined) return isEarlier ? `${anEarlierState} ${key}` : key
  const file = `${area === 'live' ? 'file' : area} ${path}`
  return `site ${site}, ${isEarlier ? `${anEarlierState} the ${file}` : file}`
}

/** Uploading a file again mends it, and makes an earlier state of the broken one: only its bytes mend that. */
const whatToDo = 'Upload it again, or put that back.'
const whatOfEarlier =
  'This state cannot be brought back. The site as it is now lacks nothing because of it, and you need not do ' +
  'anything: the service forgets the state when it has been kept for KEPT_DAYS (30 unless set). If a backup has that ' +
  'blob, you can put it back.'

export const faultOfBytes = (owner: Owner, finding: string): Fault => ({
  where: describe(owner),
  fault: `${finding}. ${owner.isEarlier ? whatOfEarlier : whatToDo}`,
})

export const namesOfBlobs = ({ blobs }: DataDirectory): ReadonlySet<string> => {
  try {
    return new Set(readdirSync(blobs))
  } catch {
    return new Set()
  }
}

const faultOf = ({ blobs }: DataDirectory, content: Content): Fault | undefined => {
  const { blob, size, held } = content
  const file = pathOfBlob(blobs, blob)
  const stats = held === null ? lstatSync(file, { throwIfNoEntry: false }) : undefined
  if (stats && !stats.isFile()) return faultOfBytes(content, `${notFile}: ${file}`)
  const found = held ?? stats?.size
  if (found === undefined) return faultOfBytes(content, `its bytes are missing: ${file}`)
  if (found === size) return undefined
  return faultOfBytes(content, `${faultOfSize(size, found)}: ${file}`)
}

/** Unfinished uploads that lack bytes. The sites do without them: they keep no backup from being made. */
const uploadFaults = (connection: DatabaseSync, { blobs }: DataDirectory): readonly Fault[] =>
  connection
    .prepare(
      `SELECT site, id, CASE WHEN json_valid(target) THEN target ->> '$.path' END AS path, kept, blob FROM uploads
       WHERE blob IS NOT NULL AND complete = 0 AND kept > 0`,
    )
    .all()
    .flatMap(({ site, id, path, kept, blob }) => {
      const file = pathOfBlob(blobs, String(blob))
      const missing = Number(kept) - (lstatSync(file, { throwIfNoEntry: false })?.size ?? 0)
      if (missing <= 0) return []
      return [
        {
          where: `site ${site}, upload of ${path ?? id}`,
          fault:
            `${missing} of the ${kept} bytes that have come in are missing: ${file}. Whoever sends the file begins ` +
            'anew. You need not do anything: the service forgets the upload a day after its last bytes.',
        },
      ]
    })

/** On a served directory, a blob that nothing refers to may belong to an upload. */
export type DirectoryUse = 'served' | 'at rest' | 'backup'

interface Options {
  /** Names of blobs, from before the database was read. */
  readonly before: ReadonlySet<string>
  readonly use: DirectoryUse
}

export const fileFaults = (
  connection: DatabaseSync,
  directory: DataDirectory,
  { before, use }: Options,
): readonly Fault[] => {
  const faults = Array.from(
    checkObjects(connection),
    ({ key, fault }): Fault => ({ where: describe({ key, isEarlier: false }), fault }),
  )
  const unclaimed = new Set(before)
  for (const content of contentsOf(connection)) {
    unclaimed.delete(content.blob)
    const fault = faultOf(directory, content)
    if (fault) faults.push(fault)
  }
  faults.push(...uploadFaults(connection, directory))
  for (const name of blobsOfUploads(connection)) unclaimed.delete(name)
  if (use === 'served') return faults
  const orphans = [...unclaimed].map((name) => ({
    where: join(directory.blobs, name),
    fault: use === 'backup' ? 'it belongs to no file.' : 'it belongs to no file. The next start moves it to orphans.',
  }))
  return [...faults, ...orphans]
}
