import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { recordShapes } from '../../admin/records/record-schemas.ts'
import * as access from '../../lib/contract/access/bodies.ts'
import * as categories from '../../lib/contract/categories/items-body.ts'
import * as fields from '../../lib/contract/fields/field-body.ts'
import * as storage from '../../lib/contract/storage/switches.ts'
import { errors } from '../../lib/core/errors.ts'
import { check } from '../../lib/http/validate.ts'
import { messages } from '../support/messages.ts'

const { advice, faultOfBody, faultOfMember } = messages.form

const schemas = Object.entries<unknown>({
  ...access,
  ...categories,
  ...fields,
  ...storage,
  ...Object.fromEntries(Object.entries(recordShapes).map(([kind, { schema }]) => [kind, schema])),
}).filter((entry): entry is [string, z.core.$ZodType] => entry[1] instanceof z.core.$ZodType)

const anIssue = { code: 'custom', input: 7, path: [] }

const textsOf = ({ _zod: { def } }: z.core.$ZodType): string[] => {
  const errorsOf: readonly unknown[] = [def.error, ...(def.checks ?? []).map((own) => own._zod.def.error)]
  return errorsOf
    .map((error): unknown => (typeof error === 'function' ? error(anIssue) : undefined))
    .filter((text) => typeof text === 'string')
}

const isSchema = (value: unknown): value is z.core.$ZodType => value instanceof z.core.$ZodType

/** The schemas inside a schema, whatever its kind. */
const within = ({ _zod: { def } }: z.core.$ZodType): z.core.$ZodType[] =>
  Object.values(def).flatMap((part: unknown) =>
    isSchema(part) ? [part] : typeof part === 'object' && part !== null ? Object.values(part).filter(isSchema) : [],
  )

const allTexts = (schema: z.core.$ZodType, seen = new Set<z.core.$ZodType>()): string[] => {
  if (seen.has(schema)) return []
  seen.add(schema)
  return [...textsOf(schema), ...within(schema).flatMap((inner) => allTexts(inner, seen))]
}

const texts = [...new Set(schemas.flatMap(([, schema]) => allTexts(schema)))]

const wrongBodies = [null, 7, 'x', [], {}, { items: [] }, { items: [7, {}] }, { type: 7, mandatory: 7 }]
const bodies = schemas.filter(([name]) => name.endsWith('Body'))

test.each(Object.entries(errors))('the message of the error %s says what to do (E-1)', (_, { message }) => {
  expect(message).toMatch(advice)
})

test.each(texts)('a message of a schema says what to send: %s', (text) => {
  expect(text).toMatch(/^[a-z]/.test(text) ? faultOfMember : faultOfBody)
})

test.each(bodies)('the message about a wrong %s never comes from Zod', (_, schema) => {
  const faults = wrongBodies.flatMap((value) => {
    const checked = check(schema, value)
    return 'problems' in checked ? checked.problems.map(({ message }) => message) : []
  })
  expect(faults.filter((text) => !faultOfMember.test(text) && !faultOfBody.test(text))).toEqual([])
})

test('this test covers the messages of every schema', () => {
  expect(texts.length).toBeGreaterThan(30)
})
