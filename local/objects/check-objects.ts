import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { BlobFolders } from './blobs.ts'
import { type DamagedObject, damagedObjects } from './tidy-blobs.ts'

/** Something that is wrong with the object store. */
interface ObjectFault {
  readonly fault:
    | 'blobMissing'
    | 'blobSize'
    | 'contentSize'
    | 'contentUnused'
    | 'blobShared'
    | 'folderWithBytes'
    | 'fileWithoutBytes'
    | 'belowFile'
    | 'keyUnknown'
  /** The key of the object, or the name of the content. */
  readonly subject: string
  /** What is wrong, as a sentence for people. */
  readonly message: string
}

type Kind = ObjectFault['fault']

/** Each finds its subjects, and says what is wrong with them. */
const queries: readonly (readonly [fault: Kind, sql: string, message: (subject: string) => string])[] = [
  [
    'contentSize',
    'SELECT key AS subject FROM objects JOIN small_contents ON name = blob WHERE length(bytes) <> size',
    (key) => `The content of ${key} has another size than its row says.`,
  ],
  [
    'contentUnused',
    'SELECT name AS subject FROM small_contents WHERE name NOT IN (SELECT blob FROM objects WHERE blob IS NOT NULL)',
    (name) => `The content ${name} belongs to no object.`,
  ],
  [
    'blobShared',
    'SELECT max(key) AS subject FROM objects WHERE blob IS NOT NULL GROUP BY blob HAVING count(*) > 1',
    (key) => `The bytes of ${key} belong to another object as well.`,
  ],
  [
    'folderWithBytes',
    "SELECT key AS subject FROM objects WHERE substr(key, -1) = '/' AND (blob IS NOT NULL OR size <> 0)",
    (key) => `The folder ${key} has bytes.`,
  ],
  [
    'fileWithoutBytes',
    "SELECT key AS subject FROM objects WHERE substr(key, -1) <> '/' AND blob IS NULL",
    (key) => `The file ${key} has no bytes.`,
  ],
  [
    'belowFile',
    `SELECT key AS subject FROM objects AS file WHERE substr(key, -1) <> '/' AND EXISTS (
       SELECT 1 FROM objects AS below WHERE below.key >= file.key || '/' AND below.key < file.key || '0')`,
    (key) => `Something lies below ${key}, which is a file.`,
  ],
  [
    'keyUnknown',
    "SELECT key AS subject FROM objects WHERE key NOT GLOB 'live/[0-9]*/*' AND key NOT GLOB 'draft/[0-9]*/*'",
    (key) => `The object ${key} belongs to no site.`,
  ],
]

const sentenceOf = (blobs: string, { key, blob, size, found }: DamagedObject): string =>
  found === undefined
    ? `The bytes of ${key} are missing: there is no file ${join(blobs, blob)}.`
    : `The bytes of ${key} are not whole: ${join(blobs, blob)} has ${found} bytes instead of ${size}.`

/** All that is wrong with the object store of a data directory. A service may be at work on it meanwhile. */
export function* checkObjects(connection: DatabaseSync, { blobs }: Pick<BlobFolders, 'blobs'>): Generator<ObjectFault> {
  const rowOf = connection.prepare('SELECT blob FROM objects WHERE key = ?')
  for (const damaged of damagedObjects(connection, blobs)) {
    // The service may have replaced it in between: its blob goes after its row.
    const current = rowOf.get(damaged.key)?.['blob']
    const found = statSync(join(blobs, damaged.blob), { throwIfNoEntry: false })?.size
    if (current !== damaged.blob || found === damaged.size) continue
    yield {
      fault: found === undefined ? 'blobMissing' : 'blobSize',
      subject: damaged.key,
      message: sentenceOf(blobs, { ...damaged, found }),
    }
  }
  for (const [fault, sql, message] of queries) {
    for (const row of connection.prepare(sql).iterate()) {
      const subject = String(row['subject'])
      yield { fault, subject, message: message(subject) }
    }
  }
}
