import type { DatabaseSync } from 'node:sqlite'
import type { Readable } from 'node:stream'
import type {
  ByteRange,
  ChooseBytes,
  ListedObject,
  Listing,
  ListQuery,
  ObjectInfo,
  ReadObject,
} from '../../storage/object-store.ts'
import type { Database } from '../sqlite/database.ts'
import { allArrays, exists, one, prepareAll, value } from '../sqlite/queries.ts'
import type { Blobs } from './blobs.ts'

/** `blob` names the blob or the row of small content with the bytes. Copies share these bytes. Folders have none. */
export interface ObjectRow extends Omit<ObjectInfo, 'versionId'> {
  readonly blob: string | null
}

export const objectColumns = 'key, blob, size, modified, type AS contentType, version, fingerprint'

/** The first key after all keys with a prefix that ends in `/`: `0` follows `/`. */
export const endOf = (prefix: string): string => `${prefix.slice(0, -1)}0`

export const behind = (key: string): string => `${key}\0`

/** The folder directly below a prefix that contains the key. Undefined if the key is directly below the prefix. */
export const folderIn = (prefix: string, key: string): string | undefined => {
  const slash = key.indexOf('/', prefix.length)
  return slash < 0 ? undefined : key.slice(0, slash + 1)
}

type ListedRow = readonly [key: string, size: number, modified: number, version: string, fingerprint: string | null]

const toListed = ([key, size, modified, version, fingerprint]: ListedRow): ListedObject => ({
  key,
  size,
  modified,
  version,
  fingerprint,
})

const valuesOf = ({ key, blob, size, modified, contentType, version, fingerprint }: ObjectRow) =>
  [key, blob, size, modified, contentType, version, fingerprint] as const

export const infoOf = ({ blob: _, ...info }: ObjectRow): ObjectInfo => ({ ...info, versionId: info.version })

/** Each call runs one statement. To change several rows, callers use a transaction. */
export const createObjectRows = (connection: DatabaseSync) => {
  const columns = '(key, blob, size, modified, type, version, fingerprint) VALUES (?, ?, ?, ?, ?, ?, ?)'
  const objects = prepareAll(connection, {
    get: one<ObjectRow>(`SELECT ${objectColumns} FROM objects WHERE key = ?`),
    isAny: exists('SELECT 1 FROM objects WHERE key >= ? AND key < ? LIMIT 1'),
    refersTo: exists(
      'SELECT 1 FROM objects WHERE blob = ?1 UNION ALL SELECT 1 FROM old_objects WHERE blob = ?1 LIMIT 1',
    ),
    withBlob: one<ObjectRow>(
      `SELECT ${objectColumns} FROM objects WHERE blob = ?1
       UNION ALL SELECT ${objectColumns} FROM old_objects WHERE blob = ?1 LIMIT 1`,
    ),
    content: value<Uint8Array>('SELECT bytes FROM small_contents WHERE name = ?'),
    // Reads all rows at once, because two readers cannot step through one statement at the same time.
    list: allArrays(
      'SELECT key, size, modified, version, fingerprint FROM objects WHERE key >= ? AND key < ? ORDER BY key LIMIT +?',
      toListed,
    ),
    put: `INSERT INTO objects ${columns} ON CONFLICT DO UPDATE SET blob = excluded.blob, size = excluded.size,
      modified = excluded.modified, type = excluded.type, version = excluded.version,
      fingerprint = excluded.fingerprint`,
    insert: `INSERT OR IGNORE INTO objects ${columns}`,
    remove: 'DELETE FROM objects WHERE key = ?',
    removeVersion: 'DELETE FROM objects WHERE key = ? AND version = ?',
    rename: 'UPDATE OR IGNORE objects SET key = ?3, type = coalesce(?4, type) WHERE key = ?1 AND version = ?2',
    fingerprintNow: 'UPDATE objects SET fingerprint = ?2 WHERE blob = ?1',
    fingerprintOld: 'UPDATE old_objects SET fingerprint = ?2 WHERE blob = ?1',
    keepContent: 'INSERT INTO small_contents (name, bytes) VALUES (?, ?)',
    dropContent: 'DELETE FROM small_contents WHERE name = ?',
  })
  return {
    ...objects,
    put: (row: ObjectRow) => void objects.put(...valuesOf(row)),
    fingerprint(blob: string, fingerprint: string): void {
      objects.fingerprintNow(blob, fingerprint)
      objects.fingerprintOld(blob, fingerprint)
    },
    /** If the key is taken, does nothing and returns false. */
    insert: (row: ObjectRow): boolean => objects.insert(...valuesOf(row)) === 1,
  }
}

export type ObjectRows = ReturnType<typeof createObjectRows>

// Each step reads twice as many rows as the last step had entries, so that few rows below a subfolder are read.
const steps = { first: 256, least: 8 } as const

type Entry = ListedObject | string

const foldedEntries = (rows: ObjectRows, prefix: string, start: string, count: number): Entry[] => {
  const entries: Entry[] = []
  let folder: string | undefined
  let from = start
  let step = Math.min(steps.first, count)
  while (entries.length < count) {
    const before = entries.length
    const read = rows.list(from, endOf(prefix), step)
    for (const row of read) {
      if (folder !== undefined && row.key.startsWith(folder)) continue
      folder = folderIn(prefix, row.key)
      entries.push(folder ?? row)
    }
    const last = read.at(-1)
    if (read.length < step || last === undefined) break
    from = folder === undefined ? behind(last.key) : endOf(folder)
    step = Math.min(Math.max((entries.length - before) * 2, steps.least), count - entries.length)
  }
  return entries
}

const startOf = ({ prefix, folded, after }: ListQuery): string => {
  if (!after?.startsWith(prefix)) return prefix
  return folded && after.endsWith('/') && after !== prefix ? endOf(after) : behind(after)
}

export const listObjects = (rows: ObjectRows, query: ListQuery): Listing => {
  const { prefix, folded, limit } = query
  const start = startOf(query)
  const found = folded ? foldedEntries(rows, prefix, start, limit + 1) : rows.list(start, endOf(prefix), limit + 1)
  const entries = found.slice(0, limit)
  const last = entries.at(-1)
  return {
    objects: entries.filter((entry) => typeof entry !== 'string'),
    folders: entries.filter((entry) => typeof entry === 'string'),
    next: found.length > limit && last !== undefined ? (typeof last === 'string' ? last : last.key) : undefined,
  }
}

interface Deps {
  readonly database: Database
  readonly blobs: Blobs
  readonly rows: ObjectRows
}

const missingBytes = (what: string, { blob }: ObjectRow) => new Error(`The bytes of ${what} are missing: ${blob}`)

export const createBodies = ({ database, blobs, rows }: Deps) => {
  // Undefined when the bytes are missing or have another size.
  const bodyOf = async ({ blob, size }: ObjectRow, range: ByteRange): Promise<Readable | Uint8Array | undefined> => {
    if (blob === null) return undefined
    const content = await database.read(() => rows.content(blob))
    if (!content) return blobs.read(blob, size, range)
    return content.length === size ? content.subarray(range.first, range.last + 1) : undefined
  }

  return {
    /** Reads the bytes that `choose` selects. `find` looks up the row, and `what` names the object in errors. */
    async read(find: () => ObjectRow | undefined, choose: ChooseBytes, what: string): Promise<ReadObject | undefined> {
      // Tries again if the bytes are missing, because another process may have replaced or removed them meanwhile.
      for (let missing: string | undefined; ; ) {
        const row = await database.read(find)
        if (!row) return undefined
        const info = infoOf(row)
        const range = choose(info)
        if (!range || range.last < range.first) return { info }
        const body = await bodyOf(row, range)
        if (body) return { info, body }
        if (missing === row.version) throw missingBytes(what, row)
        missing = row.version
      }
    },

    async piecesOf(row: ObjectRow): Promise<AsyncIterable<Uint8Array> | Iterable<Uint8Array>> {
      const body = await bodyOf(row, { first: 0, last: row.size - 1 })
      if (!body) throw missingBytes(row.key, row)
      return body instanceof Uint8Array ? [body] : body
    },
  }
}

export type Bodies = ReturnType<typeof createBodies>
