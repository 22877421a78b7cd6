import type * as z from 'zod/mini'
import { ServiceError } from '../../lib/errors.ts'
import type { Request } from '../../lib/http/request.ts'
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
export const queryValue = (query: Request['query'], name: string): string | undefined => query.get(name)?.[0]

/** Whether a GET asks for the draft. Other values are ignored: clients use them to get past caches. */
export const asDraft = (query: Request['query']): boolean => queryValue(query, 'version') === 'draft'

/**
 * Checks what is given of an operation's switches. What that takes is loaded with the first one: most requests have none.
 * Errors: storageRefused.
 */
export const readSwitches = async <Switches>(
  given: Readonly<Record<string, string | undefined>>,
  schema: () => Promise<z.core.$ZodType<Switches>>,
): Promise<Partial<Switches>> => {
  if (Object.values(given).every((value) => value === undefined)) return {}
  const [{ validate }, expected] = await Promise.all([import('../../lib/http/validate.ts'), schema()])
  return validate(expected, given, 'storageRefused')
}
