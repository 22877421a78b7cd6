import type * as z from 'zod/mini'
import { ServiceError } from '../../lib/core/errors.ts'
import type { OperationInput } from '../../lib/http/operation.ts'
import type { Switches } from '../../lib/http/request.ts'
import type { Requester } from '../../lib/storage/changes/change.ts'
import { isUnconditional, parseConditions } from '../../lib/storage/conditions.ts'
import { parsePath, type StoragePath } from '../../lib/storage/path.ts'

type Asking = Pick<OperationInput<unknown, unknown, unknown>, 'site' | 'author' | 'deadline' | 'headers'>

type Segments = Readonly<Record<string, string>>

export const pathOf = ({ path = '' }: Segments): { path: StoragePath } => ({ path: parsePath(path) })

export const deletedPathOf = (segments: Segments): { path: StoragePath } => {
  try {
    return pathOf(segments)
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    throw new ServiceError('pathUnknown', { message: cause.message, cause })
  }
}

/** With a condition, the path is taken as written (S-7). Errors: storageRefused. */
export const requesterOf = ({ site, author, deadline, headers }: Asking): Requester => {
  const conditions = parseConditions(headers['if-match'], headers['if-none-match'])
  return { site: site.id, author, deadline, conditions, isCaseSensitive: !isUnconditional(conditions) }
}

export const asDraft = (query: Switches): boolean => query.get('version') === 'draft'

export const bodies = {
  schemas: () => import('../../lib/contract/storage/switches.ts'),
  malformed: 'storageRefused' as const,
}

type Schemas = typeof import('../../lib/contract/storage/switches.ts')

export const schemaOf =
  <Name extends keyof Schemas>(name: Name) =>
  async (): Promise<Schemas[Name]> =>
    (await bodies.schemas())[name]

/** Loads the schema only when one of the switches is given: most requests have none. Errors: storageRefused. */
export const readSwitches = async <Values extends object>(
  query: Switches,
  names: readonly (string & keyof Values)[],
  schema: () => Promise<z.core.$ZodType<Values>>,
): Promise<Partial<Values>> => {
  if (!names.some((name) => query.has(name))) return {}
  const given = Object.fromEntries(names.map((name) => [name, query.get(name)]))
  const [{ validate }, expected] = await Promise.all([import('../../lib/http/validate.ts'), schema()])
  return validate(expected, given, 'storageRefused')
}

export const versionOf = (query: Switches) => readSwitches(query, ['versionId'], schemaOf('versionSwitches'))

export const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString()
