import * as z from 'zod/mini'
import { type ErrorName, invalidInput } from '../core/errors.ts'

const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text ? `${text}.${String(key)}` : String(key)),
    '',
  )

/** E-2: the error lists every fault. */
export const validate = <Value>(schema: z.core.$ZodType<Value>, value: unknown, malformed: ErrorName): Value => {
  const result = z.safeParse(schema, value)
  if (result.success) return result.data
  const problems = result.error.issues.map(({ path, message }) => ({ path: pathOf(path), message }))
  throw invalidInput(malformed, problems)
}
