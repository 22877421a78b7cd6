import { ServiceError } from '../../lib/errors.ts'
import type { Exchange } from '../../lib/http/exchange.ts'
import { parsePath, type StoragePath } from '../../lib/storage/path.ts'

type Segments = Readonly<Record<string, string>>

/** The path that a URL names; without one, the root. Errors: urlInvalid, nameTooLong. */
export const pathOf = ({ path = '' }: Segments): { path: StoragePath } => ({ path: parsePath(path) })

/** Where something is deleted, a path that breaks the rules is one that cannot be (decisions.md, section 5). Errors: pathUnknown. */
export const deletedPathOf = (segments: Segments): { path: StoragePath } => {
  try {
    return pathOf(segments)
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    throw new ServiceError('pathUnknown', { message: cause.message, cause })
  }
}

/** The first value of a query parameter. */
export const queryValue = (query: Exchange['query'], name: string): string | undefined => query.get(name)?.[0]
