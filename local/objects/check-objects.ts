import type { DatabaseSync } from 'node:sqlite'

/** An object that cannot be as it is. */
export interface ObjectFault {
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
    'SELECT max(key) AS key FROM objects WHERE blob IS NOT NULL GROUP BY blob HAVING count(*) > 1',
    'another object has the very same bytes, which go with the first of them',
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
