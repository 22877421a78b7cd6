import type { Readable } from 'node:stream'
import type { ByteRange, ObjectInfo, ReadObject } from '../../storage/object-store.ts'
import type { Database } from '../sqlite/database.ts'
import type { Blobs } from './blobs.ts'
import { infoOf, type ObjectRow, type ObjectRows } from './object-rows.ts'

interface Deps {
  readonly database: Database
  readonly blobs: Blobs
  readonly rows: ObjectRows
}

const missingBytes = (what: string, { blob }: ObjectRow) => new Error(`The bytes of ${what} are missing: ${blob}`)

/** The bytes of objects. The bytes of small objects are in the database, and of larger objects in blobs. */
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
    async read(
      find: () => ObjectRow | undefined,
      choose: (info: ObjectInfo) => ByteRange | undefined,
      what: string,
    ): Promise<ReadObject | undefined> {
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
