import JSON5 from 'json5'
import * as z from 'zod/mini'
import { type CategoryId, largestContentId } from '../../core/ids.ts'

const mostItems = 500

export const numericString = z.string().check(z.regex(/^\d{1,15}$/))

const inRange = `must be a whole number from 1 to ${largestContentId}`
const id = z.int({ error: inRange, abort: true }).check(z.minimum(1, inRange), z.maximum(largestContentId, inRange))
const contentId = () => z.union([id, z.pipe(z.pipe(numericString, z.transform(Number)), id)], inRange)

/** The id of a news item or of a blog, as a number or in a string. */
export const objectId = contentId()
/** The id of a category, in the same way. */
export const categoryId = contentId()
const named = z.pipe(
  categoryId,
  z.transform((value) => value as CategoryId),
)

/** Whether a link is shown, as 1 or 0, in a string as well. */
export const displayable = z.pipe(
  z.union([z.literal([0, 1]), z.literal(['0', '1'])], 'must be 1 or 0'),
  z.transform((value) => Number(value) === 1),
)

/** What an item names, and how a message speaks of it. */
const members = { objectId: 'an objectId', categoryId: 'a categoryId' } as const
type MemberName = keyof typeof members

/** How many items one request has, whatever they look like. */
export const itemsOf = <Entry extends z.core.$ZodType>(entry: Entry, member: MemberName) =>
  z
    .array(entry, `must be an array of objects, each with ${members[member]}`)
    .check(z.minLength(1, 'must not be empty'), z.maxLength(mostItems, `must have ${mostItems} entries or fewer`))

/** Checked for its length first, so that a list that is far too long is one fault and not thousands. */
const list = (member: MemberName) => itemsOf(z.unknown(), member)

const anObject = (member: MemberName) => `must be an object with ${members[member]}`
const withItems = 'must be an object with items'

export const linkItem = z.object({ objectId, displayable: z.optional(displayable) }, anObject('objectId'))
export const unlinkItem = z.object({ objectId }, anObject('objectId'))
export const linkCategoryItem = z.object(
  { categoryId: named, displayable: z.optional(displayable) },
  anObject('categoryId'),
)
export const unlinkCategoryItem = z.object({ categoryId: named }, anObject('categoryId'))

/** In a query or a form the whole list may be one text, as in `items=[1,2]`. */
const readText = z.transform((value: unknown, context): unknown => {
  if (typeof value !== 'string') return value
  try {
    return JSON5.parse(value)
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^JSON5: /, '') : 'it cannot be read'
    context.issues.push({ code: 'custom', message: `is not well-formed JSON: ${reason}`, input: value })
    return z.NEVER
  }
})

const asList = z.transform((value: unknown): unknown => (Array.isArray(value) || value === undefined ? value : [value]))

/** An entry may be an id alone. */
const asObject = (member: MemberName) =>
  z.transform((entry: unknown): unknown => (typeof entry === 'object' ? entry : { [member]: entry }))

/** A list in any of the ways that decisions.md, section 4 has for `DELETE`: `[{objectId: 1}]`, `[1]` and `1` say the same. */
const looseList = (member: MemberName) => z.pipe(z.pipe(readText, asList), list(member))

/** The body of operations 7 and 10. */
export const linkBody = z.object({ items: z.pipe(list('objectId'), z.array(linkItem)) }, withItems)

/** The body of operations 8 and 11. */
export const unlinkBody = z.object(
  { items: z.pipe(looseList('objectId'), z.array(z.pipe(asObject('objectId'), unlinkItem))) },
  withItems,
)

/** What to link an object with. */
export const linkCategoriesBody = z.object({ items: z.pipe(list('categoryId'), z.array(linkCategoryItem)) }, withItems)

/** What to unlink an object from. */
export const unlinkCategoriesBody = z.object(
  { items: z.pipe(looseList('categoryId'), z.array(z.pipe(asObject('categoryId'), unlinkCategoryItem))) },
  withItems,
)
