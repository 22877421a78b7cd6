import * as z from 'zod/mini'
import { lifetimes } from '../../access/sessions.ts'

const text = (name: string) => z.string(`must be the ${name}, as text`).check(z.minLength(1, 'must not be empty'))

const period = z.optional(z.literal(Object.keys(lifetimes) as (keyof typeof lifetimes)[], 'must be short or long'))

/** */
export const signInBody = z.object(
  { username: text('name'), password: text('password'), tokenExpiryPeriod: period },
  'must be an object',
)
