import * as z from 'zod/mini'

const countable = 'must be a whole number, 1 or more'
export const pageLimit = z
  .int(countable)
  .check(z.minimum(1, countable), z.maximum(999_999_999, 'must be 999999999 or less'))

export const atMost = (length: number) =>
  z.maxLength(length, { error: `must have ${length} characters or fewer`, abort: true })

// A text that is not a number becomes NaN, which the next schema refuses with its own message.
export const digits = z.pipe(
  z.string(),
  z.transform((text) => (/^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN)),
)

export const pageSwitches = z.object({
  limit: z.optional(z.pipe(digits, pageLimit)),
  cursor: z.optional(z.string().check(atMost(2_000))),
})

export const objectOf = <Shape extends z.core.$ZodShape>(shape: Shape) => z.object(shape, 'must be an object')

/** For bodies that change something. */
export const anyMember = z.refine<object>(
  (change) => Object.keys(change).length > 0,
  'Send at least one member to change',
)
