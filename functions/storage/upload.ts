import type { Answer } from '../../lib/contract/contract.ts'
import type { success } from '../../lib/contract/storage/contract-schemas.ts'
import type { OperationInput } from '../../lib/http/operation.ts'
import { operation } from '../../lib/http/operation.ts'
import { ok, type Reply } from '../../lib/http/reply.ts'
import { bodyChunks } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { uploadFiles } from '../../lib/storage/upload-files.ts'
import { startProgress } from '../../lib/storage/upload-progress.ts'
import { incomingFiles } from './incoming-files.ts'
import { pathOf, requesterOf } from './params.ts'

/** Operation 12: uploads the files of a multipart body into a folder, all or nothing. 200 with the status. */
export const upload = (deps: StorageDeps) =>
  operation({ params: pathOf }, (input) => {
    const requester = requesterOf(input)
    return receiveUpload(deps, input, (body) => {
      const files = incomingFiles(body, input.headers['content-type'])
      return uploadFiles(deps, input.site.id, input.params.path, files, requester)
    })
  })

type Input = Pick<OperationInput<unknown, unknown, unknown>, 'caller' | 'headers' | 'content'>

/** The declared length of the body in bytes; undefined when there is none. */
export const declaredLength = ({ headers }: Pick<Input, 'headers'>): number | undefined => {
  const length = headers['content-length']
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}

/**
 * Runs an upload over the bytes of the body, and keeps the progress of it that operation 13 tells. 200 with its status.
 */
export const receiveUpload = async (
  { progress: store, clock }: StorageDeps,
  input: Input,
  run: (body: AsyncGenerator<Uint8Array, void>) => Promise<void>,
): Promise<Reply> => {
  const progress = startProgress({
    progress: store,
    token: input.caller.hash,
    total: declaredLength(input),
    now: clock.monotonic,
  })
  const body = async function* () {
    for await (const chunk of bodyChunks(input.content, 'storageRefused')) {
      progress.advance(chunk.length)
      yield chunk
    }
  }
  try {
    await run(body())
  } catch (error) {
    await progress.fail()
    throw error
  }
  await progress.succeed()
  return ok<Answer<typeof success>>({ value: { status: 'success' } })
}
