import { close, closeSync, createReadStream, fstatSync, fsync, openSync, read } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { type ErrorName, ServiceError } from '../../lib/errors.ts'
import type { ByteRange } from '../../lib/storage/object-store.ts'
import { makePrivateFolder } from '../private-files.ts'

/** What is gathered before it is written: large enough to be quick, small enough for many uploads at once. In bytes. */
const writeBuffer = 512 * 1024

/** How much is written before the disk is set to work on it while more comes in: at the end little is left to wait for. In bytes. */
const syncAhead = 8 * 1024 * 1024

/** A disk that is nearly full takes a part, and refuses the rest. */
const writeWhole = async (file: FileHandle, chunks: readonly Uint8Array[], length: number): Promise<void> => {
  const { bytesWritten } = await file.writev(chunks)
  if (bytesWritten === length) return
  const rest = Buffer.concat(chunks, length).subarray(bytesWritten)
  for (let at = 0; at < rest.length; ) at += (await file.write(rest, at)).bytesWritten
}

/** A promise whose failure is seen when it is awaited; until then it is nobody's. */
const later = (promise: Promise<void>): Promise<void> => {
  promise.catch(() => {})
  return promise
}

/** Sets the disk to work on what has been written, as often as enough of it has gathered, one time after the other. */
const createSyncAhead = (file: FileHandle, durable: boolean) => {
  let written = 0
  let syncing: Promise<void> | undefined
  return {
    wrote(length: number): void {
      written += length
      if (!durable || syncing || written < syncAhead) return
      written = 0
      const now = file.datasync().then(() => {
        syncing = undefined
      })
      syncing = later(now)
    },
    settled: async () => syncing,
  }
}

/**
 * Writes while the next bytes are on their way, one write at a time. Answers how many bytes there were. Durable bytes are on the disk then.
 * However it ends, the file is no longer at work and may be closed.
 */
const writeBlob = async (file: FileHandle, content: AsyncIterable<Uint8Array>, durable: boolean): Promise<number> => {
  const ahead = createSyncAhead(file, durable)
  let size = 0
  let gathered: Uint8Array[] = []
  let length = 0
  let writing = Promise.resolve()
  const flush = async (): Promise<void> => {
    await writing
    if (length === 0) return
    const [chunks, bytes] = [gathered, length]
    gathered = []
    length = 0
    writing = later(writeWhole(file, chunks, bytes).then(() => ahead.wrote(bytes)))
  }
  try {
    for await (const chunk of content) {
      gathered.push(chunk)
      length += chunk.length
      size += chunk.length
      if (length >= writeBuffer) await flush()
    }
    await flush()
    await writing
    await ahead.settled()
    if (durable) await file.datasync()
    return size
  } finally {
    await Promise.allSettled([writing])
    await Promise.allSettled([ahead.settled()])
  }
}

/** Files of bytes under random names: whatever people call their files, no file system has to. */
export interface Blobs {
  /**
   * Writes a new blob of that name; nothing is left of it when the content or the disk fails. Answers its size in bytes. A durable blob is on the
   * disk then, with its name. Errors: outOfSpace, unavailable (no file handle is free), those of the content.
   */
  write(name: string, content: AsyncIterable<Uint8Array>): Promise<number>
  /**
   * Opens at once, so that the stream holds on to the bytes even when the blob is removed right after. Undefined when there is no such blob.
   * Throws when it has not that size. Errors: unavailable (no file handle is free).
   */
  read(name: string, size: number, range: ByteRange): Readable | undefined
  remove(names: readonly string[]): Promise<void>
  close(): void
}

/** Where the blobs of a data directory are, and where those go that nothing refers to. */
export interface BlobFolders {
  readonly blobs: string
  readonly orphans: string
}

const readBuffer = 512 * 1024

/** What passes when there is room, or when others let go of their files; everything else is a fault of the machine. */
const passing: Readonly<Record<string, ErrorName>> = {
  ENOSPC: 'outOfSpace',
  EDQUOT: 'outOfSpace',
  EMFILE: 'unavailable',
  ENFILE: 'unavailable',
}

/** The error of a file system, as the callers of a port are told of it. */
const asPortError = (error: unknown): unknown => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const name = Object.hasOwn(passing, code) ? passing[code] : undefined
  return name ? new ServiceError(name, { cause: error }) : error
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

const openToRead = (path: string): number | undefined => {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw asPortError(error)
  }
}

/** Reads as the file system does, but a file that has become shorter meanwhile breaks the stream: it must not look whole. */
const readOn = (
  fd: number,
  buffer: NodeJS.ArrayBufferView,
  offset: number,
  length: number,
  position: number,
  done: (error: Error | null, bytesRead: number, buffer: NodeJS.ArrayBufferView) => void,
): void => {
  read(fd, buffer, offset, length, position, (error, bytesRead) => {
    const shorter = bytesRead === 0 ? new Error('A blob has become shorter while it was read') : null
    done(error ?? shorter, bytesRead, buffer)
  })
}

/** The blobs of a data directory, whose folders are made when they are missing. */
export const openBlobs = (
  { blobs: folder, orphans }: BlobFolders,
  { durable }: { readonly durable: boolean },
): Blobs => {
  makePrivateFolder(folder)
  makePrivateFolder(orphans)
  const pathOf = (name: string) => join(folder, name)
  // Open all the time, so that a shortage of file handles does not come in between.
  const folderHandle = openSync(folder, 'r')
  const syncFolder = promisify(fsync)
  const remove = async (names: readonly string[]) => {
    await Promise.all(names.map((name) => rm(pathOf(name), { force: true })))
  }

  const writeNew = async (name: string, content: AsyncIterable<Uint8Array>): Promise<number> => {
    const file = await open(pathOf(name), 'wx', 0o600)
    // The name is on the disk long before the bytes have come in.
    const named = durable ? syncFolder(folderHandle) : undefined
    named?.catch(() => {})
    try {
      const size = await writeBlob(file, content, durable)
      await named
      return size
    } catch (error) {
      await remove([name])
      throw error
    } finally {
      await file.close()
    }
  }

  return {
    async write(name, content) {
      try {
        return await writeNew(name, content)
      } catch (error) {
        throw asPortError(error)
      }
    },

    read(name, size, { first, last }) {
      const path = pathOf(name)
      const fd = openToRead(path)
      if (fd === undefined) return undefined
      try {
        const found = fstatSync(fd).size
        if (found !== size) throw new Error(`The blob ${name} has ${found} bytes instead of ${size}`)
        return createReadStream(path, {
          fd,
          start: first,
          end: last,
          highWaterMark: readBuffer,
          fs: { read: readOn, close },
        })
      } catch (error) {
        closeSync(fd)
        throw error
      }
    },

    remove,

    close: () => closeSync(folderHandle),
  }
}
