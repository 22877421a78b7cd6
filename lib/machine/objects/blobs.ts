import { close, closeSync, constants, createReadStream, fstatSync, fsync, openSync, read } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { type ErrorName, ServiceError } from '../../core/errors.ts'
import type { ByteRange } from '../../storage/object-store.ts'
import { makePrivateFolder } from '../directory/private-files.ts'
import { type Writing, type Written, writeBlob } from './write-blob.ts'

/** Files of bytes under random names: whatever people call their files, no file system has to. */
export interface Blobs {
  /**
   * Writes a new blob of that name; nothing is left of it when the content or the disk fails. Answers its size in bytes. A durable blob is on the
   * disk then, with its name. Errors: outOfSpace, unavailable (no file handle is free), those of the content.
   */
  write(name: string, content: AsyncIterable<Uint8Array>): Promise<number>
  /**
   * Writes on at `start` in a blob, which is made where it begins; what was there behind it goes. What it answers is on the disk when blobs are
   * durable, and so is what `kept` is told of meanwhile. Undefined when the blob is not there. Throws when it is shorter than `start`.
   * Errors: outOfSpace, unavailable (no file handle is free, or it is over).
   */
  append(
    name: string,
    start: number,
    content: AsyncIterable<Uint8Array>,
    watch: Pick<Writing, 'kept' | 'isOver'>,
  ): Promise<Written | undefined>
  /** Lets a blob end there. Throws when it is shorter. */
  cut(name: string, size: number): Promise<void>
  /**
   * Opens at once, so that the stream holds on to the bytes even when the blob is removed right after. Undefined when there is no such blob.
   * Throws when it has not that size. Errors: unavailable (no file handle is free).
   */
  read(name: string, size: number, range: ByteRange): Readable | undefined
  /**
   * All of a blob, one piece after the other in the same memory: each is good until the next one is asked for. Throws when the blob is not there
   * or has not that size. Errors: unavailable (no file handle is free).
   */
  pieces(name: string, size: number): AsyncIterable<Uint8Array>
  remove(names: readonly string[]): Promise<void>
  close(): void
}

/** Where the blobs of a data directory are, and where those go that nothing refers to. */
export interface BlobFolders {
  readonly blobs: string
  readonly orphans: string
}

/** Blobs have random names, and nothing else is the name of one. */
const blobName = /^[0-9a-f]{32}$/

/** Whether a blob can have that name. */
export const isBlobName = (name: unknown): name is string => typeof name === 'string' && blobName.test(name)

/**
 * Where a blob is. Throws for what is no name of one: a database may come from anywhere, and must not lead out of the folder, neither to what others
 * then read nor to what is then removed.
 */
export const pathOfBlob = (folder: string, name: string): string => {
  if (isBlobName(name)) return join(folder, name)
  throw new Error('The database names a blob in a way that leads out of their folder')
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

/** Undefined when the file is not there, and is not to be made. */
const openToWrite = async (path: string, makes: boolean): Promise<FileHandle | undefined> => {
  try {
    return await open(path, makes ? constants.O_RDWR | constants.O_CREAT : 'r+', 0o600)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
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
  const pathOf = (name: string) => pathOfBlob(folder, name)
  // Open all the time, so that a shortage of file handles does not come in between.
  const folderHandle = openSync(folder, 'r')
  const syncFolder = promisify(fsync)
  const remove = async (names: readonly string[]) => {
    // No blob has another name: there is nothing to be removed then.
    await Promise.all(names.filter(isBlobName).map((name) => rm(pathOf(name), { force: true })))
  }

  const writeNew = async (name: string, content: AsyncIterable<Uint8Array>): Promise<number> => {
    const file = await open(pathOf(name), 'wx', 0o600)
    // The name is on the disk long before the bytes have come in.
    const named = durable ? syncFolder(folderHandle) : undefined
    named?.catch(() => {})
    try {
      const { size, failure } = await writeBlob(file, content, { durable })
      if (failure !== undefined) throw failure
      await named
      return size
    } catch (error) {
      await remove([name])
      throw error
    } finally {
      await file.close()
    }
  }

  /** Lets a file end there. Throws when it is shorter: what is missing must not come to be zeros. */
  const endAt = async (file: FileHandle, name: string, size: number): Promise<boolean> => {
    const found = (await file.stat()).size
    if (found < size) throw new Error(`The blob ${name} has ${found} bytes instead of ${size}`)
    if (found > size) await file.truncate(size)
    return found > size
  }

  const writeOn: Blobs['append'] = async (name, start, content, watch) => {
    const file = await openToWrite(pathOf(name), start === 0)
    if (!file) return undefined
    const named = durable && start === 0 ? syncFolder(folderHandle) : undefined
    named?.catch(() => {})
    try {
      await endAt(file, name, start)
      await named
      return await writeBlob(file, content, { durable, start, ...watch })
    } finally {
      await file.close()
    }
  }

  return {
    async append(...given) {
      try {
        return await writeOn(...given)
      } catch (error) {
        throw asPortError(error)
      }
    },

    async cut(name, size) {
      const file = await open(pathOf(name), 'r+')
      try {
        if ((await endAt(file, name, size)) && durable) await file.datasync()
      } finally {
        await file.close()
      }
    },

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

    async *pieces(name, size) {
      const file = await open(pathOf(name), 'r').catch((error) => {
        throw asPortError(error)
      })
      try {
        const buffer = Buffer.allocUnsafeSlow(Math.min(size, readBuffer))
        let position = 0
        for (;;) {
          const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
          if (bytesRead === 0) break
          position += bytesRead
          yield buffer.subarray(0, bytesRead)
        }
        if (position !== size) throw new Error(`The blob ${name} has ${position} bytes instead of ${size}`)
      } finally {
        await file.close()
      }
    },

    remove,

    close: () => closeSync(folderHandle),
  }
}
