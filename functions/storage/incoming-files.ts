import { ServiceError } from '../../lib/core/errors.ts'
import { MultipartError } from '../../lib/http/multipart-body.ts'
import type { IncomingFile } from '../../lib/storage/upload-files.ts'

const filePart = 'file'

export const isMultipart = (contentType: string | undefined): boolean => /^\s*multipart\//i.test(contentType ?? '')

const boundaryOf = (contentType: string | undefined): string | undefined => {
  const [, quoted, plain] =
    /^\s*multipart\/.*;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType ?? '') ?? []
  return quoted ?? plain
}

async function* guarded<Value>(values: AsyncIterable<Value>): AsyncGenerator<Value, void> {
  try {
    yield* values
  } catch (cause) {
    if (!(cause instanceof MultipartError)) throw cause
    throw new ServiceError('storageRefused', {
      message: `The request body is not well-formed multipart/form-data: ${cause.message}.`,
      cause,
    })
  }
}

const decodeName = (bytes: string): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes, 'latin1'))
  } catch (cause) {
    throw new ServiceError('urlInvalid', { message: 'The name of a file is not UTF-8.', cause })
  }
}

/**
 * The files of a multipart body: its parts named `file`. The others are ignored. Errors: storageRefused, urlInvalid.
 */
export async function* incomingFiles(
  body: AsyncIterator<Uint8Array>,
  contentType: string | undefined,
): AsyncGenerator<IncomingFile, void> {
  // Only uploads need it: other requests start without it.
  const { readMultipart } = await import('../../lib/http/multipart.ts')
  for await (const part of guarded(readMultipart(body, boundaryOf(contentType)))) {
    if (part.name !== filePart) continue
    yield {
      fileName: part.isFile ? decodeName(part.fileName ?? '') : undefined,
      contentType: part.contentType,
      content: guarded(part.content),
    }
  }
}
