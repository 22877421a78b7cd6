import { DatabaseSync } from 'node:sqlite'
import type { ListedObject, ObjectInfo } from '../../lib/storage/object-store.ts'

/** A row of the index. The bytes of the object are in the blob of that name, or here if they are few; folders have none. */
export interface Row {
  readonly key: string
  readonly blob: string | null
  readonly size: number
  readonly modified: number
  readonly type: string
  readonly version: string
}

/** What every key with a prefix that ends in `/` comes before: `0` follows `/`. */
export const endOf = (prefix: string): string => `${prefix.slice(0, -1)}0`

/** The first key that can come behind this one. */
export const behind = (key: string): string => `${key}\0`

export const toListed = ({ key, size, modified, version }: Row): ListedObject => ({ key, size, modified, version })

export const toInfo = (row: Row): ObjectInfo => ({ ...toListed(row), contentType: row.type })

/** The index of the embedded object store: keys in the order of their UTF-8 bytes, as SQLite keeps text. */
export interface IndexDatabase {
  get(key: string): Row | undefined
  /** The first key of a range that ends before `end`. */
  first(from: string, end: string): string | undefined
  /** Rows from `from` on, before `end`, in order; read on demand. */
  rows(from: string, end: string): IterableIterator<Row>
  put(row: Row): void
  /** Answers false when the key is taken. */
  insert(row: Row): boolean
  /** Answers the row that was there. */
  remove(key: string): Row | undefined
  /** Answers the row, if it was in that version. */
  removeVersion(key: string, version: string): Row | undefined
  /** Answers false when there is nothing of that version at `from`. The destination is free. */
  rename(from: string, version: string, to: string, type?: string): boolean
  /** Keeps the bytes of a small object here, under the name by which its row refers to them. */
  keepContent(name: string, bytes: Uint8Array): void
  content(name: string): Buffer | undefined
  /** Answers whether it was here. */
  dropContent(name: string): boolean
  /** What is referenced among the blobs. */
  blobs(): Set<string>
  /** All of it, or nothing of it when `run` throws. */
  transaction<Result>(run: () => Result): Result
  close(): void
}

const schema = `
  CREATE TABLE IF NOT EXISTS objects (
    key TEXT PRIMARY KEY, blob TEXT, size INTEGER NOT NULL, modified INTEGER NOT NULL, type TEXT NOT NULL, version TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS contents (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
  DELETE FROM contents WHERE name NOT IN (SELECT blob FROM objects WHERE blob IS NOT NULL)`

export const openIndexDatabase = (file: string, durable: boolean): IndexDatabase => {
  const database = new DatabaseSync(file)
  // In WAL mode FULL means: a commit is on the disk. With NORMAL it survives the end of the process, but not a power cut.
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'}`)
  database.exec(schema)

  const get = database.prepare('SELECT * FROM objects WHERE key = ?')
  const first = database.prepare('SELECT key FROM objects WHERE key >= ? AND key < ? ORDER BY key LIMIT 1')
  const put = database.prepare(
    'INSERT OR REPLACE INTO objects (key, blob, size, modified, type, version) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const insert = database.prepare(
    'INSERT OR IGNORE INTO objects (key, blob, size, modified, type, version) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const remove = database.prepare('DELETE FROM objects WHERE key = ? RETURNING *')
  const removeVersion = database.prepare('DELETE FROM objects WHERE key = ? AND version = ? RETURNING *')
  const rename = database.prepare('UPDATE objects SET key = ?, type = coalesce(?, type) WHERE key = ? AND version = ?')
  const keepContent = database.prepare('INSERT INTO contents (name, bytes) VALUES (?, ?)')
  const content = database.prepare('SELECT bytes FROM contents WHERE name = ?')
  const dropContent = database.prepare('DELETE FROM contents WHERE name = ?')
  const blobs = database.prepare('SELECT blob FROM objects WHERE blob IS NOT NULL')

  const values = ({ key, blob, size, modified, type, version }: Row) =>
    [key, blob, size, modified, type, version] as const

  return {
    get: (key) => get.get(key) as Row | undefined,
    first: (from, end) => (first.get(from, end) as Pick<Row, 'key'> | undefined)?.key,
    rows: (from, end) =>
      // A statement of its own: several listings may be read at once.
      database
        .prepare('SELECT * FROM objects WHERE key >= ? AND key < ? ORDER BY key')
        .iterate(from, end) as IterableIterator<unknown> as IterableIterator<Row>,
    put: (row) => void put.run(...values(row)),
    insert: (row) => insert.run(...values(row)).changes === 1,
    remove: (key) => remove.get(key) as Row | undefined,
    removeVersion: (key, version) => removeVersion.get(key, version) as Row | undefined,
    rename: (from, version, to, type) => rename.run(to, type ?? null, from, version).changes === 1,
    keepContent: (name, bytes) => void keepContent.run(name, bytes),
    content(name) {
      const row = content.get(name) as { bytes: Uint8Array<ArrayBuffer> } | undefined
      return row && Buffer.from(row.bytes.buffer, row.bytes.byteOffset, row.bytes.byteLength)
    },
    dropContent: (name) => dropContent.run(name).changes === 1,
    blobs: () => new Set((blobs.all() as { blob: string }[]).map(({ blob }) => blob)),
    transaction(run) {
      database.exec('BEGIN IMMEDIATE')
      try {
        const result = run()
        database.exec('COMMIT')
        return result
      } catch (error) {
        database.exec('ROLLBACK')
        throw error
      }
    },
    close: () => database.close(),
  }
}
