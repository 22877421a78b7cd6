import * as z from 'zod/mini'
import { $ZodObject, toDotPath } from 'zod/v4/core'
import { type ErrorName, invalidInput, type Problem } from '../core/errors.ts'
import { unknownMembers } from '../core/names.ts'

const membersOf = (schema: z.core.$ZodType): string[] =>
  schema instanceof $ZodObject ? Object.keys(schema._zod.def.shape) : []

type Checked<Value> = { readonly value: Value } | { readonly problems: readonly Problem[] }

/** E-2: finds every fault. Only the outermost object may be strict, because the message lists its members. */
export const check = <Value>(schema: z.core.$ZodType<Value>, value: unknown): Checked<Value> => {
  const result = z.safeParse(schema, value, { reportInput: true })
  if (result.success) return { value: result.data }
  const problems = result.error.issues.map((issue) => {
    const path = toDotPath(issue.path)
    if (issue.code === 'unrecognized_keys') return { path, message: unknownMembers(issue.keys, membersOf(schema)) }
    const isMissing = path !== '' && issue.input === undefined
    return { path, message: isMissing ? `is missing. It ${issue.message}` : issue.message }
  })
  return { problems }
}

export const validate = <Value>(schema: z.core.$ZodType<Value>, value: unknown, malformed: ErrorName): Value => {
  const checked = check(schema, value)
  if ('value' in checked) return checked.value
  throw invalidInput(malformed, checked.problems)
}
