export { nodeFetch } from './node-fetch.ts'

import { open } from 'node:fs/promises'
import { ServiceError } from './service-error.ts'
import type { Source, StreamedBody } from './source.ts'

/** A file of this machine as a source of bytes. */
export interface FileSource extends Source {
  slice(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>
  streamed(start: number, end: number): StreamedBody
  close(): Promise<void>
}

/** So much is read at once where nobody says how much, in bytes. */
const chunkSize = 512 * 1024

/** Fills bytes with what a file has from a position on. */
type Fill = (bytes: Uint8Array, position: number) => Promise<void>

/**
 * Bytes that are read by pieces when they are wanted, right into the buffer of the one who wants them, if there is one.
 */
const streamOf = (fill: Fill, start: number, end: number): StreamedBody => ({
  size: end - start,
  stream({ onRead, onFault }) {
    let position = start
    return new ReadableStream({
      type: 'bytes',
      async pull(controller) {
        const { byobRequest } = controller
        const room = byobRequest?.view ?? Buffer.allocUnsafeSlow(chunkSize)
        const bytes = new Uint8Array(room.buffer, room.byteOffset, Math.min(room.byteLength, end - position))
        try {
          await fill(bytes, position)
        } catch (error) {
          onFault(error)
          throw error
        }
        position += bytes.length
        onRead(bytes.length)
        if (byobRequest) byobRequest.respond(bytes.length)
        else controller.enqueue(bytes)
        if (position === end) controller.close()
      },
    })
  },
})

/**
 * Opens a file. Its size is the one that it has now: a file that has become shorter ends the upload with a
 * `ServiceError`. `check` is asked before the last bytes are given out, and may throw: nothing of the file is put in
 * place then. Errors: those of `node:fs`.
 */
export const openFile = async (path: string, check: () => Promise<void> = async () => {}): Promise<FileSource> => {
  const file = await open(path)
  const { size } = await file.stat()
  const fill: Fill = async (bytes, start) => {
    for (let come = 0; come < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, come, bytes.length - come, start + come)
      if (bytesRead === 0) {
        const message = `${path} has become shorter while it was read. Repeat when nobody writes to it.`
        throw new ServiceError({ status: 0, code: 0, message })
      }
      come += bytesRead
    }
    if (start + bytes.length >= size) await check()
  }
  return {
    size,
    async slice(start, end) {
      // All of it is written before anybody sees it.
      const bytes = Buffer.allocUnsafeSlow(end - start)
      await fill(bytes, start)
      return bytes
    },
    streamed: (start, end) => streamOf(fill, start, end),
    close: () => file.close(),
  }
}
