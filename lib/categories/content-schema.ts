import * as z from 'zod'
import { type ContentKind, contentMembers } from '../core/content-kinds.ts'
import { largestContentId } from '../core/ids.ts'
import { type ContentMember, longestString, type MemberType, type Scalar } from '../core/object-kinds.ts'
import { readDateTime } from './query/item-shape.ts'

const longestText = 350_000

const smallestInteger = -largestContentId - 1
const integerRange = `must be a whole number from ${smallestInteger} to ${largestContentId}`
const integer = z.int(integerRange).min(smallestInteger, integerRange).max(largestContentId, integerRange)

// A store would replace half of a surrogate pair by another character.
const isWellFormed = (value: string): boolean => value.isWellFormed()
const notWellFormed = 'must not contain half of a character (a lone surrogate)'

const string = z
  .string('must be a string')
  .max(longestString, `must have ${longestString} characters or fewer`)
  .regex(/^\P{Cc}*$/u, 'must not have control characters')
  .refine(isWellFormed, notWellFormed)

const notDate = 'must be a date such as 2026-01-31 or 2026-01-31T12:00:00'
const date = z.string(notDate).transform((text, context) => {
  const moment = readDateTime(text)
  if (moment !== undefined) return moment.slice(0, 19)
  context.addIssue({ code: 'custom', message: notDate })
  return z.NEVER
})

const typeText = (type: string) => ({ typeText: type })

const text = z
  .string('must be a string')
  .refine((value) => Buffer.byteLength(value) <= longestText, `must have ${longestText} bytes or fewer`)
  .refine(isWellFormed, notWellFormed)

const schemas: Readonly<Record<MemberType, z.ZodType<Scalar>>> = {
  integer,
  flag: z.literal([0, 1], 'must be 1 or 0'),
  string,
  boolean: z.boolean('must be true or false'),
  date: date.meta(typeText('date such as `2026-01-31` or `2026-01-31T12:00:00`, in UTC')),
  text: text.meta(typeText(`text of up to ${longestText.toLocaleString('en')} bytes`)),
}

export const contentId = z
  .int('must be a whole number')
  .min(1, 'must be 1 or more')
  .max(largestContentId, `must be ${largestContentId} or less`)

const memberSchema = ({ type, nullable, meaning = '' }: ContentMember): z.ZodType<Scalar | undefined> =>
  (nullable ? schemas[type].nullable() : schemas[type]).optional().meta({ description: meaning })

export const contentSchema = (kind: ContentKind) => {
  const { id, ...members } = contentMembers[kind]
  const shape = Object.fromEntries(Object.entries(members).map(([name, member]) => [name, memberSchema(member)]))
  return z.strictObject({ id: contentId.meta({ description: id?.meaning ?? '' }), ...shape })
}
