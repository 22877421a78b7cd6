import type { FileHandle } from 'node:fs/promises'
import { ServiceError } from '../../core/errors.ts'
import { untilFailure } from '../../storage/content.ts'

// In bytes: large enough to be fast, and small enough for many uploads at once.
const writeBuffer = 512 * 1024

// In bytes: after this many, the disk starts to sync while more bytes arrive, so that little remains at the end.
const syncAhead = 8 * 1024 * 1024

// A nearly full disk writes only a part, and refuses the rest. `position` is the position of the first byte in the
// file.
const writeWhole = async (
  file: FileHandle,
  chunks: readonly Uint8Array[],
  { position, length }: { readonly position: number; readonly length: number },
): Promise<void> => {
  const { bytesWritten } = await file.writev(chunks, position)
  if (bytesWritten === length) return
  const rest = Buffer.concat(chunks, length).subarray(bytesWritten)
  for (let at = 0; at < rest.length; ) {
    at += (await file.write(rest, at, rest.length - at, position + bytesWritten + at)).bytesWritten
  }
}

export const failWhenAwaited = (promise: Promise<void>): Promise<void> => {
  promise.catch(() => {})
  return promise
}

// Syncs regularly, but never twice at once.
const createSyncAhead = (file: FileHandle, durable: boolean, kept: { size: number }) => {
  let begun = 0
  let syncing: Promise<void> | undefined
  return {
    wrote(size: number): void {
      if (syncing || size - begun < syncAhead) return
      begun = size
      const now = (durable ? file.datasync() : Promise.resolve()).then(() => {
        syncing = undefined
        kept.size = size
      })
      syncing = failWhenAwaited(now)
    },
    settled: async () => syncing,
  }
}

export interface Writing {
  readonly durable: boolean
  readonly start?: number
  /** Its size is in bytes from `start` on: those that are on the disk. */
  readonly kept?: { size: number }
  /** Once this is true, the file may belong to another request, so nothing more is written. */
  readonly isOver?: () => boolean
}

/**
 * Writes while the next bytes are arriving, one write at a time. When this function returns, durable bytes are on the
 * disk, even if the content failed. Then the file may be closed. Errors: unavailable, when the time is up.
 */
export const writeBlob = async (
  file: FileHandle,
  content: AsyncIterable<Uint8Array>,
  { durable, start = 0, kept = { size: 0 }, isOver = () => false }: Writing,
) => {
  const ahead = createSyncAhead(file, durable, kept)
  const { received, chunks } = untilFailure(content)
  let gathered: Uint8Array[] = []
  let length = 0
  let writing = Promise.resolve()
  const flush = async (): Promise<void> => {
    await writing
    if (length === 0) return
    if (isOver()) throw new ServiceError('unavailable')
    const [pieces, bytes, size] = [gathered, length, received.size]
    gathered = []
    length = 0
    const position = start + size - bytes
    writing = failWhenAwaited(writeWhole(file, pieces, { position, length: bytes }).then(() => ahead.wrote(size)))
  }
  try {
    for await (const chunk of chunks) {
      gathered.push(chunk)
      length += chunk.length
      if (length >= writeBuffer) await flush()
    }
    await flush()
    await writing
    await ahead.settled()
    if (durable) await file.datasync()
    return received
  } finally {
    await Promise.allSettled([writing])
    await Promise.allSettled([ahead.settled()])
  }
}
