import JSON5 from 'json5'
import * as z from 'zod'
import { largestId } from '../../lib/categories/key-range.ts'

const mostItems = 500

const numericString = z
  .string()
  .regex(/^-?\d{1,15}$/)
  .transform(Number)

/** The id of a news item or of a blog, as a number or in a string. */
const objectId = z
  .union([z.int(), numericString], `must be a whole number from 1 to ${largestId}`)
  .refine((id) => id >= 1 && id <= largestId, `must be a whole number from 1 to ${largestId}`)

const displayable = z
  .union([z.literal([0, 1]), z.literal(['0', '1'])], 'must be 1 or 0')
  .transform((value) => Number(value) === 1)

/** Checked for its length first, so that a list that is far too long is one fault and not thousands. */
const listOf = <Value>(entry: z.ZodType<Value>) =>
  z
    .array(z.unknown(), 'must be an array of objects, each with an objectId')
    .min(1, 'must not be empty')
    .max(mostItems, `must have ${mostItems} entries or fewer`)
    .pipe(z.array(entry))

/** The body of operations 7 and 10. */
export const linkBody = z.object(
  { items: listOf(z.object({ objectId, displayable: displayable.optional() }, 'must be an object with an objectId')) },
  'must be an object with items',
)

/** In a query or a form the whole list may be one text, as in `items=[1,2]`. */
const readText = (value: unknown, context: z.RefinementCtx): unknown => {
  if (typeof value !== 'string') return value
  try {
    return JSON5.parse(value)
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^JSON5: /, '') : 'it cannot be read'
    context.addIssue({ code: 'custom', message: `is not well-formed JSON: ${reason}` })
    return z.NEVER
  }
}

const asList = (value: unknown): unknown => (Array.isArray(value) || value === undefined ? value : [value])
const asObject = (entry: unknown): unknown => (typeof entry === 'object' ? entry : { objectId: entry })

/** The body of operations 8 and 11, in any of the ways that decisions.md, section 4 lists: `[{objectId: 1}]`, `[1]` and `1` say the same. */
export const unlinkBody = z.object(
  {
    items: z
      .unknown()
      .transform(readText)
      .transform(asList)
      .pipe(listOf(z.preprocess(asObject, z.object({ objectId }, 'must be an object with an objectId')))),
  },
  'must be an object with items',
)
