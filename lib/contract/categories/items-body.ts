import JSON5 from 'json5'
import * as z from 'zod/mini'
import { largestContentId } from '../../core/ids.ts'

const mostItems = 500

export const numericString = z.string().check(z.regex(/^\d{1,15}$/))

const inRange = `must be a whole number from 1 to ${largestContentId}`
const id = z.int({ error: inRange, abort: true }).check(z.minimum(1, inRange), z.maximum(largestContentId, inRange))
const contentId = () => z.union([id, z.pipe(z.pipe(numericString, z.transform(Number)), id)], inRange)

export const objectId = contentId()
export const categoryId = contentId()

export const displayable = z.pipe(
  z.union([z.literal([0, 1]), z.literal(['0', '1'])], 'must be 1 or 0'),
  z.transform((value) => Number(value) === 1),
)

const members = { objectId: 'an objectId', categoryId: 'a categoryId' } as const
type MemberName = keyof typeof members

export const itemsOf = <Entry extends z.core.$ZodType>(entry: Entry, member: MemberName) =>
  z
    .array(entry, `must be an array of objects, each with ${members[member]}`)
    .check(z.minLength(1, 'must not be empty'), z.maxLength(mostItems, `must have ${mostItems} entries or fewer`))

const anObject = (member: MemberName) => `must be an object with ${members[member]}`
const withItems = 'The body must be an object with items'

export const linkItem = z.object({ objectId, displayable: z.optional(displayable) }, anObject('objectId'))
export const unlinkItem = z.object({ objectId }, anObject('objectId'))
export const linkCategoryItem = z.object({ categoryId, displayable: z.optional(displayable) }, anObject('categoryId'))
export const unlinkCategoryItem = z.object({ categoryId }, anObject('categoryId'))

// In a query or a form the list may be one text, such as `items=[1,2]` (C-44).
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

// The parser of forms makes an object of a list that is too long.
const asList = z.transform((value: unknown): unknown => {
  if (Array.isArray(value) || value === undefined) return value
  const members = typeof value === 'object' ? Object.values(Object(value)) : []
  return members.length > mostItems ? members : [value]
})

const asObject = (member: MemberName) =>
  z.transform((entry: unknown): unknown => (typeof entry === 'object' ? entry : { [member]: entry }))

// The length is checked first, so that a list that is far too long is one fault, not thousands.
const strict = <Item extends z.core.$ZodType>(member: MemberName, item: Item) =>
  z.object({ items: z.pipe(itemsOf(z.unknown(), member), z.array(item)) }, withItems)

// `[{objectId: 1}]`, `[1]` and `1` mean the same (C-44).
const loose = <Item extends z.core.$ZodType>(member: MemberName, item: Item) => {
  const list = z.pipe(z.pipe(readText, asList), itemsOf(z.unknown(), member))
  return z.object({ items: z.pipe(list, z.array(z.pipe(asObject(member), item))) }, withItems)
}

export const linkBody = strict('objectId', linkItem)
export const unlinkBody = loose('objectId', unlinkItem)
export const linkCategoriesBody = strict('categoryId', linkCategoryItem)
export const unlinkCategoriesBody = loose('categoryId', unlinkCategoryItem)
