import type { Answer } from '../../lib/contract/contract.ts'
import type { success } from '../../lib/contract/storage/contract-schemas.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { MultipartError } from '../../lib/http/multipart-body.ts'
import { ok } from '../../lib/http/reply.ts'
import { refuseCoding, type Switches } from '../../lib/http/request.ts'
import { uploadFiles } from '../../lib/storage/changes/upload.ts'
import { decodeUtf8 } from '../../lib/storage/path.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import { countedBody, hasArrived, operation, refusePart, requesterOf, trackUpload, writablePath } from './params.ts'

export const succeeded = ok<Answer<typeof success>>({ status: 'success' })

export const isMultipart = (contentType: string | undefined): boolean => /^multipart\//i.test(contentType ?? '')

const boundaryOf = (contentType: string | undefined): string | undefined => {
  const [, quoted, plain] = /^multipart\/.*;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType ?? '') ?? []
  return quoted ?? plain
}

const howToSend =
  'Send files as multipart/form-data, one file by PUT to its path, or one file by tus with Tus-Resumable.'

async function* guarded<Value>(values: AsyncIterable<Value>, contentType: string | undefined) {
  try {
    yield* values
  } catch (cause) {
    if (!(cause instanceof MultipartError)) throw cause
    const advice = isMultipart(contentType) ? 'Correct the body, then send it again.' : howToSend
    const message = `The request body is not well-formed multipart/form-data: ${cause.message}. ${advice}`
    throw new ServiceError('storageRefused', { message, cause })
  }
}

const decodeName = (bytes: string): string =>
  decodeUtf8(Buffer.from(bytes, 'latin1'), 'The name of a file in the upload is not UTF-8. Send the name in UTF-8.')

// Reads the parts named `file` and skips the others. Errors: storageRefused, urlInvalid.
async function* incomingFiles(body: AsyncIterator<Uint8Array>, contentType: string | undefined) {
  // The parser loads here, so that requests other than uploads start without it.
  const { readMultipart } = await import('../../lib/http/multipart.ts')
  for await (const part of guarded(readMultipart(body, boundaryOf(contentType)), contentType)) {
    if (part.name !== 'file') continue
    yield {
      fileName: part.fileName && decodeName(part.fileName),
      contentType: part.contentType,
      content: guarded(part.content, contentType),
    }
  }
}

const hasVersion = (query: Switches): boolean => query.has('version')

/** Operation 12: uploads the files of a multipart body into a folder, all or nothing. */
export const uploadForm = operation({ params: writablePath, query: hasVersion }, async (input, deps) => {
  // S-48: a form stores only live files, so a draft in a form would be published.
  if (input.method === 'PUT' && input.query) {
    throw storageRefused('A multipart body cannot have a version. Send the bytes of the page as the body.')
  }
  refusePart(input)
  refuseCoding(input, 'storageRefused')
  const { path } = input.params
  const progress = trackUpload(deps, input)
  const requester = { ...requesterOf(input), progress }
  const files = incomingFiles(countedBody(deps, input, progress.advance, path), input.headers['content-type'])
  await progress.follow(uploadFiles(deps, path, { files, hasArrived: hasArrived(input) }, requester))
  return succeeded
})
