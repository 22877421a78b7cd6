import fc from 'fast-check'
import { fieldTypes, imageVerification } from '../../lib/fields/catalogue.ts'
import type { SystemField } from '../../lib/fields/web-forms.ts'

const storedTypes = [...fieldTypes.keys(), imageVerification.id]

/** Any legal name of a stored field: one line, without lone surrogates. */
export const fieldName: fc.Arbitrary<string> = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 80 })
  .filter((name) => /^[^\p{Cc}\p{Cn}]*$/u.test(name))

/** The fields of any form, sorted by order, with orders so close together that they collide. */
export const formFields: fc.Arbitrary<readonly SystemField[]> = fc
  .uniqueArray(
    fc.record({
      typeId: fc.constantFrom(...storedTypes),
      mandatory: fc.boolean(),
      order: fc.integer({ min: 1, max: storedTypes.length + 6 }),
      name: fc.option(fieldName, { nil: undefined }),
    }),
    { selector: ({ typeId }) => typeId, maxLength: storedTypes.length },
  )
  .map((fields) => [...new Map(fields.map((field) => [field.order, field])).values()])
  .map((fields) =>
    fields
      .map(({ name, ...field }): SystemField => ({ ...field, ...(name !== undefined && { name }) }))
      .toSorted((a, b) => a.order - b.order),
  )
