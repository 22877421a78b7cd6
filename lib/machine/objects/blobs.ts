import { randomBytes } from 'node:crypto'
import { close, closeSync, constants, fstatSync, fsync, openSync, readv } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { giveBack, lendPiece } from '../../core/pieces.ts'
import { asPortError, isMissing } from '../../core/system-failures.ts'
import type { ByteRange } from '../../storage/object-store.ts'
import { type DataDirectory, makePrivateFolder } from '../directory/data-directory.ts'
import { failWhenAwaited, type Writing, writeBlob } from './write-blob.ts'

export type BlobFolders = Pick<DataDirectory, 'blobs' | 'orphans'>

const blobName = /^[0-9a-f]{32}$/

export const newName = (): string => randomBytes(16).toString('hex')

export const isBlobName = (name: unknown): name is string => typeof name === 'string' && blobName.test(name)

/**
 * Throws for any other name: a database may come from an unknown source, and its names must not lead out of the folder.
 */
export const pathOfBlob = (folder: string, name: string): string => {
  if (isBlobName(name)) return join(folder, name)
  throw new Error('The database has the name of a blob outside the folder of the blobs')
}

const mostAhead = 8

const readMany = promisify(readv)

// Reads up to 512 KiB at once, because reading 64 KiB at a time takes 1.7 times as long. Drops the pieces that the
// reader does not request in the same turn of the event loop, and reads them again later, so that a slow reader keeps
// only one piece in memory.
async function* readForReader(fd: number, { first, last }: ByteRange): AsyncGenerator<Uint8Array, void> {
  let most = 1
  let ahead: Uint8Array[] = []
  const drop = () => ahead.splice(0).forEach(giveBack)
  try {
    for (let position = first; position <= last; ) {
      ahead = Array.from({ length: most }, lendPiece)
      const { bytesRead } = await readMany(fd, ahead, position)
      // The stream must fail, because the answer must not look complete.
      if (bytesRead === 0) throw new Error('A blob has become shorter while it was read')
      const end = Math.min(position + bytesRead, last + 1)
      let taken = 0
      while (position < end) {
        const piece = ahead.shift()?.subarray(0, end - position)
        if (!piece) break
        const dropping = setImmediate(drop)
        position += piece.length
        taken += 1
        yield piece
        clearImmediate(dropping)
      }
      most = taken < most ? taken : Math.min(2 * most, mostAhead)
      drop()
    }
  } finally {
    drop()
  }
}

// Truncates a file. Returns whether the file was longer. Throws when the file is shorter, because zeros must not fill
// the gap.
const endAt = async (file: FileHandle, name: string, size: number): Promise<boolean> => {
  const found = (await file.stat()).size
  if (found < size) throw new Error(`The blob ${name} has ${found} bytes instead of ${size}`)
  if (found > size) await file.truncate(size)
  return found > size
}

const syncFolder = promisify(fsync)

const readRange = (path: string, name: string, size: number, range: ByteRange): Readable | undefined => {
  try {
    using opening = new DisposableStack()
    const fd = opening.adopt(openSync(path, 'r'), closeSync)
    const found = fstatSync(fd).size
    if (found !== size) throw new Error(`The blob ${name} has ${found} bytes instead of ${size}`)
    const stream = Readable.from(readForReader(fd, range), { objectMode: false, highWaterMark: 0 })
    opening.move()
    return stream.once('close', () => close(fd, () => {}))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw asPortError(error, path)
  }
}

/** Files of bytes under random names, because file systems may not support the names that users choose. */
export const openBlobs = ({ blobs: folder, orphans }: BlobFolders, { durable }: Pick<Writing, 'durable'>) => {
  makePrivateFolder(folder)
  makePrivateFolder(orphans)
  // This handle is always open, so that a sync never needs a new file handle.
  const folderHandle = openSync(folder, 'r')
  const pathOf = (name: string) => pathOfBlob(folder, name)
  const throwPortError = (error: unknown) => {
    throw asPortError(error, folder)
  }

  // Call this before the content arrives: the name is then on the disk long before the last bytes.
  const syncName = () => (durable ? failWhenAwaited(syncFolder(folderHandle)) : undefined)

  const remove = async (names: readonly string[]): Promise<void> => {
    // Names of another form are skipped, because no blob has such a name.
    await Promise.all(names.filter(isBlobName).map((name) => rm(pathOf(name), { force: true })))
  }

  const writeNew = async (name: string, content: AsyncIterable<Uint8Array>): Promise<void> => {
    await using file = await open(pathOf(name), 'wx', 0o600)
    const named = syncName()
    try {
      const { failure } = await writeBlob(file, content, { durable })
      if (failure !== undefined) throw failure
      await named
    } catch (error) {
      await remove([name])
      throw error
    }
  }

  const writeOn = async (
    name: string,
    start: number,
    content: AsyncIterable<Uint8Array>,
    terms: Pick<Writing, 'kept' | 'isOver'>,
  ) => {
    const flags = start === 0 ? constants.O_RDWR | constants.O_CREAT : 'r+'
    await using file = await open(pathOf(name), flags, 0o600)
    const named = start === 0 ? syncName() : undefined
    await endAt(file, name, start)
    await named
    return await writeBlob(file, content, { durable, start, ...terms })
  }

  return {
    /**
     * Writes a new blob. If the content or the disk fails, nothing of the blob stays. If blobs are durable, the blob and
     * its name are then on the disk. Errors: outOfSpace, unavailable (no file handle is free), those of the content.
     */
    write: (...given: Parameters<typeof writeNew>) => writeNew(...given).catch(throwPortError),
    /**
     * Writes from `start` on, and drops later bytes. At 0, creates the blob. Returns the number of bytes. If blobs are
     * durable, these bytes are on the disk. Throws when the blob is missing, or shorter than `start`. Errors: outOfSpace,
     * unavailable (no file handle is free, or the time is up).
     */
    append: (...given: Parameters<typeof writeOn>) => writeOn(...given).catch(throwPortError),

    /** Truncates the blob. Throws when the blob is missing or shorter. */
    async cut(name: string, size: number): Promise<void> {
      await using file = await open(pathOf(name), 'r+')
      if ((await endAt(file, name, size)) && durable) await file.datasync()
    },

    /**
     * Opens the blob at once, so that the stream keeps its bytes even when the blob is removed right after. Keeps at most
     * 64 KiB for a reader that pauses (O-21). Undefined when the blob is missing. Throws when it has another size.
     * Errors: unavailable (no file handle is free).
     */
    read: (name: string, size: number, range: ByteRange) => readRange(pathOf(name), name, size, range),
    remove,
    close: () => closeSync(folderHandle),
  }
}

export type Blobs = ReturnType<typeof openBlobs>
