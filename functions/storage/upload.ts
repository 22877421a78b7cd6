import type { Answer } from '../../lib/contract/contract.ts'
import type { success } from '../../lib/contract/storage/contract-schemas.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { MultipartError } from '../../lib/http/multipart-body.ts'
import { type OperationInput, operation } from '../../lib/http/operation.ts'
import { ok, type Reply } from '../../lib/http/reply.ts'
import { bodyChunks } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { type IncomingFile, uploadFiles } from '../../lib/storage/changes/upload.ts'
import { startProgress } from '../../lib/storage/upload-progress.ts'
import { pathOf, requesterOf } from './params.ts'

export const succeeded = ok<Answer<typeof success>>({ value: { status: 'success' } })

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

// Reads the parts named `file` and skips the others. Errors: storageRefused, urlInvalid.
async function* incomingFiles(
  body: AsyncIterator<Uint8Array>,
  contentType: string | undefined,
): AsyncGenerator<IncomingFile, void> {
  // Only uploads need it: other requests start without it.
  const { readMultipart } = await import('../../lib/http/multipart.ts')
  for await (const part of guarded(readMultipart(body, boundaryOf(contentType)))) {
    if (part.name !== 'file') continue
    yield {
      fileName: part.isFile ? decodeName(part.fileName ?? '') : undefined,
      contentType: part.contentType,
      content: guarded(part.content),
    }
  }
}

/** Operation 12: uploads the files of a multipart body into a folder, all or nothing. */
export const upload = (deps: StorageDeps) =>
  operation({ params: pathOf }, (input) => {
    const requester = requesterOf(input)
    return receiveUpload(deps, input, (body) => {
      const files = incomingFiles(body, input.headers['content-type'])
      return uploadFiles(deps, input.site.id, input.params.path, files, requester)
    })
  })

type Input = Pick<OperationInput<unknown, unknown, unknown>, 'caller' | 'headers' | 'content'>

export const declaredLength = ({ headers }: Pick<Input, 'headers'>): number | undefined => {
  const length = headers['content-length']
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}

export async function* countedBody({ content }: Pick<Input, 'content'>, count: (bytes: number) => void) {
  for await (const chunk of bodyChunks(content, 'storageRefused')) {
    count(chunk.length)
    yield chunk
  }
}

/** Reports the progress of an upload (operation 13). */
export const receiveUpload = async (
  { progress: store, clock }: StorageDeps,
  input: Input,
  run: (body: AsyncGenerator<Uint8Array, void>) => Promise<void>,
): Promise<Reply> => {
  const token = input.caller.hash
  const progress = startProgress({ progress: store, token, total: declaredLength(input), now: clock.monotonic })
  try {
    await run(countedBody(input, progress.advance))
  } catch (error) {
    await progress.fail()
    throw error
  }
  await progress.succeed()
  return succeeded
}
