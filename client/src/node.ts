import { open } from 'node:fs/promises'
import { ServiceError } from './service-error.ts'
import type { Source } from './source.ts'
import type { StreamedBody } from './transport.ts'

/** A file of this machine as a source of bytes. */
export interface FileSource extends Source {
  slice(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>
  streamed(start: number, end: number): StreamedBody
  close(): Promise<void>
}

/** So much is read at once while it is sent, in bytes. */
const chunkSize = 512 * 1024

/** Bytes that are read by pieces when they are wanted. */
const streamOf = (read: FileSource['slice'], start: number, end: number): StreamedBody => ({
  size: end - start,
  stream() {
    let position = start
    return new ReadableStream(
      {
        async pull(controller) {
          const next = Math.min(end, position + chunkSize)
          controller.enqueue(await read(position, next))
          position = next
          if (position === end) controller.close()
        },
      },
      { highWaterMark: 2 },
    )
  },
})

/**
 * Opens a file. Its size is the one that it has now: a file that has become shorter ends the upload with a `ServiceError`. `check` is asked before the last
 * bytes are given out, and may throw: nothing of the file is put in place then. Errors: those of `node:fs`.
 */
export const openFile = async (path: string, check: () => Promise<void> = async () => {}): Promise<FileSource> => {
  const file = await open(path)
  const { size } = await file.stat()
  const read = async (start: number, end: number): Promise<Uint8Array<ArrayBuffer>> => {
    // All of it is written before anybody sees it.
    const bytes = Buffer.allocUnsafeSlow(end - start)
    for (let come = 0; come < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, come, bytes.length - come, start + come)
      if (bytesRead === 0) {
        const message = `${path} has become shorter while it was read. Repeat when nobody writes to it.`
        throw new ServiceError({ status: 0, code: 0, message })
      }
      come += bytesRead
    }
    if (end >= size) await check()
    return bytes
  }
  return {
    size,
    slice: read,
    streamed: (start, end) => streamOf(read, start, end),
    close: () => file.close(),
  }
}
