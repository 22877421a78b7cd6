import type { StorageDeps } from '../../lib/deps.ts'
import { type OperationHandler, operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { Answer } from '../contract.ts'
import type { progress as progressAnswer } from './contract.ts'
import { getFile } from './get-file.ts'
import { getMeta } from './get-meta.ts'
import { pathOf } from './params.ts'

/** Operation 13: how far the token's newest upload is, in percent; 0 when it has never uploaded. */
const getProgress = ({ progress }: StorageDeps) =>
  operation({ params: pathOf }, async ({ caller }) =>
    ok<Answer<typeof progressAnswer>>({ value: { percent: await progress.percentOf(caller.hash) } }),
  )

/** What a GET of a path asks for, by its query: what it is, or its bytes. */
export const readPath = (deps: StorageDeps): OperationHandler => {
  const meta = getMeta(deps)
  const file = getFile(deps)
  return (exchange) => (exchange.query.has('meta') ? meta(exchange) : file(exchange))
}

/** At the root, `?status` asks for the progress of an upload (operation 13), and may name the login token as well. */
export const readRoot = (deps: StorageDeps): OperationHandler => {
  const progress = getProgress(deps)
  const other = readPath(deps)
  return (exchange) => (exchange.query.has('status') ? progress(exchange) : other(exchange))
}
