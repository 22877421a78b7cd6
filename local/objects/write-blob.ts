import type { FileHandle } from 'node:fs/promises'

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
export const writeBlob = async (
  file: FileHandle,
  content: AsyncIterable<Uint8Array>,
  durable: boolean,
): Promise<number> => {
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
