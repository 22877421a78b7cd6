import JSON5 from 'json5'
import * as z from 'zod/mini'
import { largestContentId } from '../../lib/ids.ts'

const mostItems = 500

export const numericString = z.string().check(z.regex(/^\d{1,15}$/))

/** The id of a news item or of a blog, as a number or in a string. */
const inRange = `must be a whole number from 1 to ${largestContentId}`
const id = z.int({ error: inRange, abort: true }).check(z.minimum(1, inRange), z.maximum(largestContentId, inRange))
export const objectId = z.union([id, z.pipe(z.pipe(numericString, z.transform(Number)), id)], inRange)

const displayable = z.pipe(
  z.union([z.literal([0, 1]), z.literal(['0', '1'])], 'must be 1 or 0'),
  z.transform((value) => Number(value) === 1),
)

/** How many items one request has, whatever they look like. */
export const itemsOf = <Entry extends z.core.$ZodType>(entry: Entry) =>
  z
    .array(entry, 'must be an array of objects, each with an objectId')
    .check(z.minLength(1, 'must not be empty'), z.maxLength(mostItems, `must have ${mostItems} entries or fewer`))

/** Checked for its length first, so that a list that is far too long is one fault and not thousands. */
const list = itemsOf(z.unknown())

export const linkItem = z.object(
  { objectId, displayable: z.optional(displayable) },
  'must be an object with an objectId',
)
export const unlinkItem = z.object({ objectId }, 'must be an object with an objectId')

/** The body of operations 7 and 10. */
export const linkBody = z.object(
  {
    items: z.pipe(list, z.array(linkItem)),
  },
  'must be an object with items',
)

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
const asObject = z.transform((entry: unknown): unknown => (typeof entry === 'object' ? entry : { objectId: entry }))

/** The body of operations 8 and 11, in any of the ways that decisions.md, section 4 lists: `[{objectId: 1}]`, `[1]` and `1` say the same. */
export const unlinkBody = z.object(
  {
    items: z.pipe(z.pipe(z.pipe(readText, asList), list), z.array(z.pipe(asObject, unlinkItem))),
  },
  'must be an object with items',
)
