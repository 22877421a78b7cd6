import * as z from 'zod'
import { contentId, contentSchema } from '../../lib/categories/content-schema.ts'
import { type ContentKind, contentKinds, objectKindNames, oneOf } from '../../lib/core/content-kinds.ts'
import { type CategoryId, largestNamedId, type WebFormId } from '../../lib/core/ids.ts'
import { byName } from '../../lib/core/names.ts'
import { fieldTypeName, maxOrder } from '../../lib/fields/web-forms.ts'
import { longestName } from '../terminal/arguments.ts'

// With names of at most this length, a full form stays below the 4 KB of one read unit.
const longestFieldName = 80

const nameOf = (longest: number) =>
  z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(longest, `must have ${longest} characters or fewer`)
    .regex(/^\P{Cc}*$/u, 'must not have control characters')
    .refine((value) => value.isWellFormed(), 'must not contain half of a character (a lone surrogate)')

const upTo = (largest: number) =>
  z.int('must be a whole number').min(1, 'must be 1 or more').max(largest, `must be ${largest} or less`)

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
    .meta(described('the position of the field. Another field at this position moves down', 'the end')),
})

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

const contentShape = (kind: ContentKind) => ({
  meaning: kind === 'category' ? 'A category.' : `A${oneOf(kind).slice(1)}.`,
  schema: contentSchema(kind),
})

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
  ...byName(contentKinds, contentShape),
  link: {
    meaning: 'An object in a category. The object and the category must exist, or come earlier in the file.',
    schema: linkSchema,
  },
}
