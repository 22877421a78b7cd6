import * as z from 'zod/mini'
import { lifetimes } from '../../access/sessions.ts'

const text = (name: string) => z.string(`must be the ${name}, as text`).check(z.minLength(1, 'must not be empty'))

const period = z.optional(z.literal(Object.keys(lifetimes) as (keyof typeof lifetimes)[], 'must be short or long'))

/** */
export const signInBody = z.object(
  { username: text('name'), password: text('password'), tokenExpiryPeriod: period },
  'must be an object',
)

/** */
export const codeBody = z.object(
  { code: text('code'), verifier: text('verifier'), tokenExpiryPeriod: period },
  'must be an object',
)

const jwtType = 'urn:ietf:params:oauth:token-type:jwt'
const issuedType = 'urn:ietf:params:oauth:token-type:access_token'

/** */
export const exchangeBody = z.object(
  {
    grant_type: z.literal('urn:ietf:params:oauth:grant-type:token-exchange'),
    subject_token: text('token of the issuer'),
    subject_token_type: z.literal(jwtType, `must be ${jwtType}`),
    resource: z.optional(z.string('must be the number of a site')),
    requested_token_type: z.optional(z.literal(issuedType, `must be ${issuedType}`)),
  },
  'must be an object',
)
