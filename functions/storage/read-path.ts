import type { StorageDeps } from '../../lib/deps.ts'
import type { OperationHandler } from '../../lib/http/operation.ts'
import { getFile } from './get-file.ts'
import { getMeta } from './get-meta.ts'
import { getProgress } from './get-progress.ts'

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
