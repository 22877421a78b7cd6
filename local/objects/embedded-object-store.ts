import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Change, ObjectStore, Staged } from '../../lib/storage/object-store.ts'
import { readAhead } from '../../lib/storage/read-ahead.ts'
import { openBlobs } from './blobs.ts'
import { endOf, openIndexDatabase, toInfo } from './index-database.ts'
import { createKeyLocks } from './key-locks.ts'
import { listObjects } from './list-objects.ts'
import { placeChanges, type StagedBlob } from './place-changes.ts'

export interface EmbeddedObjectStore extends ObjectStore {
  close(): void
}

interface Options {
  /** Whether what is put in place is on the disk before anybody is told so: it then outlives a power cut, too. */
  readonly durable: boolean
  /** Up to this size content is kept in the index itself: quicker than a file, and made durable with its row. In bytes. */
  readonly smallContent?: number
}

/** What a change must have for itself, from its placing until it is settled or undone. Folders are shared. */
const keysOf = (change: Change): readonly string[] => {
  if (change.kind === 'folder') return []
  return change.kind === 'move' ? [change.from.key, change.key] : [change.key]
}

/**
 * An object store in a folder: an index in SQLite, which keeps small content as well, and a blob for the bytes of each larger object. What becomes visible together is one
 * transaction. A crash leaves at most blobs that nothing refers to, and they are swept when the store is opened.
 * One process at a time may have it open.
 */
export const openEmbeddedObjectStore = async (
  folder: string,
  { durable, smallContent = 16 * 1024 }: Options,
): Promise<EmbeddedObjectStore> => {
  const blobs = await openBlobs(join(folder, 'blobs'), durable)
  const index = openIndexDatabase(join(folder, 'index.db'), durable)
  await blobs.sweep(index.blobs())

  const locks = createKeyLocks()
  const waiting = new Map<Staged, StagedBlob>()
  const stagedOf = (staged: Staged): StagedBlob => {
    const blob = waiting.get(staged)
    if (!blob) throw new Error('These bytes do not wait in this store')
    return blob
  }
  const removeBlobs = (names: readonly (string | null)[]) => {
    const present = names.filter((name) => name !== null)
    const inFiles = index.transaction(() => present.filter((name) => !index.dropContent(name)))
    return blobs.remove(inFiles)
  }

  return {
    async find(key) {
      const row = index.get(key)
      return row && toInfo(row)
    },

    async read(key, choose) {
      const row = index.get(key)
      if (!row) return undefined
      const info = toInfo(row)
      const range = choose(info)
      if (!range || row.blob === null || range.last < range.first) return { info }
      const content = index.content(row.blob)
      return {
        info,
        body: content ? Readable.from(content.subarray(range.first, range.last + 1)) : blobs.read(row.blob, range),
      }
    },

    exists: async (prefix) => index.first(prefix, endOf(prefix)) !== undefined,

    list: async (query) => listObjects(index, query),

    async stage(content, { contentType }) {
      const blob = randomBytes(16).toString('hex')
      const ahead = await readAhead(content, smallContent)
      const bytes = ahead.isWhole ? Buffer.concat(ahead.gathered, ahead.size) : undefined
      const size = bytes ? bytes.length : await blobs.write(blob, ahead.content)
      const staged: Staged = {
        size,
        async discard() {
          if (waiting.delete(staged) && !bytes) await blobs.remove([blob])
        },
      }
      waiting.set(staged, { blob, size, contentType, ...(bytes && { bytes }) })
      return staged
    },

    async place(changes, absent, isTimeUp = () => false) {
      if (changes.some((change) => change.kind === 'put' && !stagedOf(change.staged).bytes)) await blobs.sync()
      const release = await locks.take(changes.flatMap(keysOf))
      try {
        const steps = placeChanges(index, changes, absent, stagedOf, isTimeUp)
        if ('outcome' in steps) {
          release()
          return steps
        }
        for (const change of changes) if (change.kind === 'put') waiting.delete(change.staged)
        return {
          outcome: 'placed',
          async undo() {
            const unreferenced = index.transaction(() => steps.toReversed().flatMap((step) => step.undo()))
            release()
            await removeBlobs(unreferenced)
          },
          async settle() {
            release()
            await removeBlobs(steps.flatMap(({ replaced }) => replaced))
          },
        }
      } catch (error) {
        release()
        throw error
      }
    },

    async remove(objects) {
      const removed = index.transaction(() => objects.map(({ key, version }) => index.removeVersion(key, version)))
      await removeBlobs(removed.map((row) => row?.blob ?? null))
    },

    close: () => index.close(),
  }
}
