export { nodeFetch } from './node-fetch.ts'

import { open } from 'node:fs/promises'
import { ServiceError } from './service-error.ts'
import type { Source, StreamedBody } from './source.ts'

export interface FileSource extends Source {
  slice(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>
  streamed(start: number, end: number): StreamedBody
  close(): Promise<void>
}

const chunkBytes = 512 * 1024

type Fill = (bytes: Uint8Array, position: number) => Promise<void>

/** Reads on demand. If the reader has a buffer, reads directly into this buffer. */
const streamOf = (fill: Fill, start: number, end: number): StreamedBody => ({
  size: end - start,
  stream({ onRead, onFault }) {
    let position = start
    return new ReadableStream({
      type: 'bytes',
      async pull(controller) {
        const { byobRequest } = controller
        const room = byobRequest?.view ?? Buffer.allocUnsafeSlow(chunkBytes)
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
 * Opens a file with its current size. If the file shrinks, the upload ends with a `ServiceError`. `check` runs
 * before the last bytes, and if the file shrinks. If it throws, the file is not placed. Errors: those of `node:fs`.
 */
export const openFile = async (path: string, check: () => Promise<void> = async () => {}): Promise<FileSource> => {
  const file = await open(path)
  const { size } = await file.stat()
  const fill: Fill = async (bytes, start) => {
    for (let filled = 0; filled < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, start + filled)
      if (bytesRead === 0) {
        await check()
        const message = `${path} became shorter during the upload. Repeat when nobody writes to it.`
        throw new ServiceError({ status: 0, code: 0, message })
      }
      filled += bytesRead
    }
    if (start + bytes.length >= size) await check()
  }
  return {
    size,
    async slice(start, end) {
      const bytes = Buffer.allocUnsafeSlow(end - start)
      await fill(bytes, start)
      return bytes
    },
    streamed: (start, end) => streamOf(fill, start, end),
    close: () => file.close(),
  }
}
