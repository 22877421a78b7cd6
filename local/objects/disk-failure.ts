import { type ErrorName, ServiceError } from '../../lib/errors.ts'

/** What passes when there is room, or when others let go of their files; everything else is a fault of the machine. */
const passing: Readonly<Record<string, ErrorName>> = {
  ENOSPC: 'outOfSpace',
  EDQUOT: 'outOfSpace',
  EMFILE: 'unavailable',
  ENFILE: 'unavailable',
}

/** The error of a file system, as the callers of a port are told of it. */
export const asPortError = (error: unknown): unknown => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const name = Object.hasOwn(passing, code) ? passing[code] : undefined
  return name ? new ServiceError(name, { cause: error }) : error
}
