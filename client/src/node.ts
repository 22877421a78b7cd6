import { open } from 'node:fs/promises'
import { ServiceError } from './service-error.ts'
import type { Source } from './source.ts'

/** A file of this machine as a source of bytes. */
export interface FileSource extends Source {
  close(): Promise<void>
}

/** Opens a file. Its size is the one that it has now: a file that has become shorter ends the upload with a `ServiceError`. Errors: those of `node:fs`. */
export const openFile = async (path: string): Promise<FileSource> => {
  const file = await open(path)
  const { size } = await file.stat()
  return {
    size,
    async slice(start, end) {
      const bytes = new Uint8Array(end - start)
      for (let read = 0; read < bytes.length; ) {
        const { bytesRead } = await file.read(bytes, read, bytes.length - read, start + read)
        if (bytesRead === 0) {
          throw new ServiceError({
            status: 0,
            code: 0,
            message: `${path} has become shorter while it was read. Repeat when nobody writes to it.`,
          })
        }
        read += bytesRead
      }
      return bytes
    },
    close: () => file.close(),
  }
}
