import type { Answer } from '../../lib/contract/contract.ts'
import type { success } from '../../lib/contract/storage/contract-schemas.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { MultipartError } from '../../lib/http/multipart-body.ts'
import type { OperationInput } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import { bodyChunks, refuseCoding, type Switches } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { type IncomingFile, uploadFiles } from '../../lib/storage/changes/upload.ts'
import { decodeUtf8, requireScope, type StoragePath } from '../../lib/storage/path.ts'
import { startProgress } from '../../lib/storage/upload-progress.ts'
import type { Upload } from '../../lib/storage/uploads/upload.ts'
import { operation, requesterOf, writablePath } from './params.ts'

export const succeeded = ok<Answer<typeof success>>({ status: 'success' })

export const isMultipart = (contentType: string | undefined): boolean => /^multipart\//i.test(contentType ?? '')

const boundaryOf = (contentType: string | undefined): string | undefined => {
  const [, quoted, plain] = /^multipart\/.*;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType ?? '') ?? []
  return quoted ?? plain
}

const howToSend =
  'Send files as multipart/form-data, one file by PUT to its path, or one file by tus with Tus-Resumable.'

async function* guarded<Value>(
  values: AsyncIterable<Value>,
  contentType: string | undefined,
): AsyncGenerator<Value, void> {
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
async function* incomingFiles(
  body: AsyncIterator<Uint8Array>,
  contentType: string | undefined,
): AsyncGenerator<IncomingFile, void> {
  // The parser loads here, so that requests other than uploads start without it.
  const { readMultipart } = await import('../../lib/http/multipart.ts')
  for await (const part of guarded(readMultipart(body, boundaryOf(contentType)), contentType)) {
    if (part.name !== 'file') continue
    yield {
      fileName: part.isFile ? decodeName(part.fileName ?? '') : undefined,
      contentType: part.contentType,
      content: guarded(part.content, contentType),
    }
  }
}

type Input = Pick<OperationInput, 'caller' | 'headers' | 'content' | 'callerAfterBody'>

export const declaredLength = ({ headers }: Pick<Input, 'headers'>): number | undefined => {
  const length = headers['content-length']
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}

/** A small body has often arrived together with its headers. */
export const hasArrived = ({ headers, content }: Pick<Input, 'headers' | 'content'>): boolean =>
  'bytes' in content || content.stream.readableLength === declaredLength({ headers })

/** The body of an upload to this path or below it. After a slow body, checks the right again. */
export async function* countedBody(input: Input, count: (bytes: number) => void, path: StoragePath) {
  for await (const chunk of bodyChunks(input.content, 'storageRefused')) {
    count(chunk.length)
    yield chunk
  }
  requireScope({ ...(await input.callerAfterBody()), level: 'write' }, path)
}

/** Begins to report the progress of an upload to the token that sends it (operation 13). */
export const trackUpload = (
  { progress, clock }: Pick<StorageDeps, 'progress' | 'clock'>,
  input: Input,
  { id, length, offset = 0 }: Partial<Pick<Upload, 'id' | 'length' | 'offset'>> = {},
  isContinued = false,
) => {
  const total = id === undefined ? declaredLength(input) : (length ?? undefined)
  const upload = { token: input.caller.hash, id, total, already: offset, isContinued }
  return startProgress({ progress, now: clock.monotonic, ...upload })
}

/** Operation 12: uploads the files of a multipart body into a folder, all or nothing. */
export const upload = (query?: (query: Switches) => void) =>
  operation({ params: writablePath, ...(query && { query }) }, async (input, deps) => {
    refuseCoding(input, 'storageRefused')
    const { path } = input.params
    const { advance, complete, follow } = trackUpload(deps, input)
    const requester = { ...requesterOf(input), alongsideEntry: complete }
    const files = incomingFiles(countedBody(input, advance, path), input.headers['content-type'])
    await follow(uploadFiles(deps, path, { files, hasArrived: hasArrived(input) }, requester))
    return succeeded
  })
