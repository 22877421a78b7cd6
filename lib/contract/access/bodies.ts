import * as z from 'zod/mini'
import { lifetimes } from '../../access/sessions.ts'
import { parseRight, type Right } from '../../core/rights.ts'

const text = (name: string) => z.string(`must be the ${name}, as text`).check(z.minLength(1, 'must not be empty'))

const period = z.optional(z.literal(Object.keys(lifetimes) as (keyof typeof lifetimes)[], 'must be short or long'))

/** */
export const signInBody = z.object(
  { username: text('name'), password: text('password'), tokenExpiryPeriod: period },
  'must be an object',
)

const longestName = 200
const mostRights = 50

const nameFault = `must have 1 to ${longestName} characters, none of them a control character`
const name = z.string(nameFault).check(z.regex(new RegExp(`^\\P{Cc}{1,${longestName}}$`, 'u'), nameFault))

const rightFault = 'must be a right, such as files:write:/news'
const right = z.pipe(
  z.string(rightFault).check(z.maxLength(2_000, rightFault)),
  z.transform((text: string, context): Right => {
    const parsed = parseRight(text)
    if (parsed) return parsed
    context.issues.push({ code: 'custom', message: rightFault, input: text })
    return z.NEVER
  }),
)

const countFault = `must be a list of 1 to ${mostRights} rights`
export const rights = z.array(right, countFault).check(z.minLength(1, countFault), z.maxLength(mostRights, countFault))

/** */
export const newKeyBody = z.object(
  {
    name,
    rights,
    expires: z.optional(z.iso.datetime({ offset: true, error: 'must be a time, such as 2027-01-31T12:00:00Z' })),
  },
  'must be an object',
)
