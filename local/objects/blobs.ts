import { createReadStream, openSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { ByteRange } from '../../lib/storage/object-store.ts'

/** Files of bytes under random names: whatever people call their files, no file system has to. */
export interface Blobs {
  /** Writes a new blob of that name; nothing is left of it when the content fails. Answers its size in bytes. Durable blobs are on the disk then. */
  write(name: string, content: AsyncIterable<Uint8Array>): Promise<number>
  /** Makes the names of new blobs durable. */
  sync(): Promise<void>
  /** Opens at once, so that the stream holds on to the bytes even when the blob is removed right after. */
  read(name: string, range: ByteRange): Readable
  remove(names: readonly string[]): Promise<void>
  /** Removes every blob that is not among those, left behind by a process that was killed. */
  sweep(referenced: ReadonlySet<string>): Promise<void>
}

/** What is gathered before it is written: large enough to be quick, small enough for many uploads at once. In bytes. */
const writeBuffer = 512 * 1024

const writeGathered = async (file: FileHandle, chunks: readonly Uint8Array[], length: number): Promise<void> => {
  if (length === 0) return
  const { bytesWritten } = await file.writev(chunks)
  if (bytesWritten !== length) throw new Error(`The disk took ${bytesWritten} of ${length} bytes`)
}

/** Writes while the next bytes are on their way, one write at a time. Answers how many bytes there were. */
const writeAll = async (file: FileHandle, content: AsyncIterable<Uint8Array>): Promise<number> => {
  let size = 0
  let gathered: Uint8Array[] = []
  let length = 0
  let writing = Promise.resolve()
  try {
    for await (const chunk of content) {
      gathered.push(chunk)
      length += chunk.length
      size += chunk.length
      if (length < writeBuffer) continue
      await writing
      writing = writeGathered(file, gathered, length)
      // Its failure is seen at the next await; until then it is nobody's.
      writing.catch(() => {})
      gathered = []
      length = 0
    }
  } finally {
    await writing
  }
  await writeGathered(file, gathered, length)
  return size
}

export const openBlobs = async (folder: string, durable: boolean): Promise<Blobs> => {
  await mkdir(folder, { recursive: true })
  const pathOf = (name: string) => join(folder, name)
  const remove = async (names: readonly string[]) => {
    await Promise.all(names.map((name) => rm(pathOf(name), { force: true })))
  }

  return {
    async write(name, content) {
      const file = await open(pathOf(name), 'wx', 0o600)
      try {
        const size = await writeAll(file, content)
        if (durable) await file.datasync()
        return size
      } catch (error) {
        await remove([name])
        throw error
      } finally {
        await file.close()
      }
    },

    async sync() {
      if (!durable) return
      const directory = await open(folder)
      try {
        await directory.sync()
      } finally {
        await directory.close()
      }
    },

    read: (name, { first, last }) =>
      createReadStream(pathOf(name), {
        fd: openSync(pathOf(name), 'r'),
        start: first,
        end: last,
        highWaterMark: writeBuffer,
      }),

    remove,

    async sweep(referenced) {
      const names = await readdir(folder)
      await remove(names.filter((name) => !referenced.has(name)))
    },
  }
}
