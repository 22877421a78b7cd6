import * as z from 'zod'
import { readDateTime } from '../../lib/categories/query/item-shape.ts'
import { type ContentKind, contentKinds, contentMembers, objectKindNames, oneOf } from '../../lib/core/content-kinds.ts'
import { type CategoryId, largestContentId, largestNamedId, type WebFormId } from '../../lib/core/ids.ts'
import { byName, capitalised } from '../../lib/core/names.ts'
import { type ContentMember, longestString, type MemberType, type Scalar } from '../../lib/core/object-kinds.ts'
import { fieldTypeName, maxOrder } from '../../lib/fields/web-forms.ts'
import { longestName } from '../terminal/arguments.ts'

// With names of at most this length, a full form stays below the 4 KB of one read unit.
const longestFieldName = 80

// A store would replace half of a surrogate pair by another character.
const isWellFormed = (value: string): boolean => value.isWellFormed()
const notWellFormed = 'must not contain half of a character (a lone surrogate)'

const lineOf = (longest: number) =>
  z
    .string('must be a string')
    .max(longest, `must have ${longest} characters or fewer`)
    .regex(/^\P{Cc}*$/u, 'must not have control characters')
    .refine(isWellFormed, notWellFormed)

const nameOf = (longest: number) => lineOf(longest).min(1, 'must not be empty')

const upTo = (largest: number) =>
  z.int('must be a whole number').min(1, 'must be 1 or more').max(largest, `must be ${largest} or less`)

const contentId = upTo(largestContentId)

const webFormId = upTo(largestNamedId).transform((value) => value as WebFormId)

const described = (description: string, otherwise?: string) => ({
  description,
  ...(otherwise !== undefined && { otherwise }),
})

export const webFormSchema = z.strictObject({
  id: webFormId.meta(described('the number that identifies the form')),
  name: nameOf(longestName).optional().meta(described('the name of the form', '`Web form {id}`')),
})

export const fieldSchema = z.strictObject({
  webFormId: webFormId.meta(described('the number of the web form')),
  typeId: z
    .int('must be a whole number')
    .refine((id) => fieldTypeName(id) !== undefined, 'must be the number of a field type, such as -2')
    .meta({
      ...described('the type of the field. A form has each type at most once'),
      typeText: 'number of a type of system fields',
    }),
  name: nameOf(longestFieldName).optional().meta(described('the name of the field', 'the name of its type')),
  mandatory: z
    .boolean('must be true or false')
    .optional()
    .meta(described('true if visitors must fill in the field', '`false`')),
  order: upTo(maxOrder)
    .optional()
    .meta(described('the position. Another field at this position moves down', 'the stored position, or the end')),
})

const longestText = 350_000

const smallestInteger = -largestContentId - 1
const integerRange = `must be a whole number from ${smallestInteger} to ${largestContentId}`
const integer = z.int(integerRange).min(smallestInteger, integerRange).max(largestContentId, integerRange)

const notDate = 'must be a date such as 2026-01-31 or 2026-01-31T12:00:00'
const date = z.string(notDate).transform((text, context) => {
  const moment = readDateTime(text)
  if (moment !== undefined) return moment.slice(0, 19)
  context.addIssue({ code: 'custom', message: notDate })
  return z.NEVER
})

const text = z
  .string('must be a string')
  .refine((value) => Buffer.byteLength(value) <= longestText, `must have ${longestText} bytes or fewer`)
  .refine(isWellFormed, notWellFormed)

const schemas: Readonly<Record<MemberType, z.ZodType<Scalar>>> = {
  integer,
  flag: z.literal([0, 1], 'must be 1 or 0'),
  string: lineOf(longestString),
  boolean: z.boolean('must be true or false'),
  date: date.meta({ typeText: 'date such as `2026-01-31` or `2026-01-31T12:00:00`, in UTC' }),
  text: text.meta({ typeText: `text of up to ${longestText.toLocaleString('en')} bytes` }),
}

const memberSchema = ({ type, nullable, meaning = '' }: ContentMember): z.ZodType<Scalar | undefined> =>
  (nullable ? schemas[type].nullable() : schemas[type]).optional().meta({ description: meaning })

export const contentSchema = (kind: ContentKind) => {
  const { id, ...members } = contentMembers[kind]
  const shape = Object.fromEntries(Object.entries(members).map(([name, member]) => [name, memberSchema(member)]))
  return z.strictObject({ id: contentId.meta({ description: id?.meaning ?? '' }), ...shape })
}

export const linkSchema = z.strictObject({
  type: z.enum(objectKindNames, `must be ${objectKindNames.join(' or ')}`).meta(described('the kind of the object')),
  categoryId: contentId.transform((id) => id as CategoryId).meta(described('the number of the category')),
  objectId: contentId.meta(described('the number of the object')),
  displayable: z
    .literal([0, 1], 'must be 1 or 0')
    .transform((value) => value === 1)
    .optional()
    .meta(described('`1` shows the object in the category, `0` hides it', '`1`')),
})

export type LinkRecord = z.infer<typeof linkSchema>

/**
 * The records of an import by `kind`. A kind comes after the kinds that it refers to (T-24). `schema` does not include
 * `kind`.
 */
export const recordShapes = {
  webForm: { meaning: 'A web form.', schema: webFormSchema },
  field: {
    meaning: 'A system field. The web form of the field must exist, or come earlier in the file.',
    schema: fieldSchema,
  },
  ...byName(contentKinds, (kind) => ({ meaning: `${capitalised(oneOf(kind))}.`, schema: contentSchema(kind) })),
  link: {
    meaning: 'An object in a category. The object and the category must exist, or come earlier in the file.',
    schema: linkSchema,
  },
}
