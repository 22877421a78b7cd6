import * as z from 'zod/mini'
import { isEmail, longestEmail, roleNames } from '../../access/people.ts'
import { lifetimes } from '../../access/sign-in.ts'
import { mostEntries, parseFolder, parseRight } from '../../core/rights.ts'
import { anyMember, atMost, objectOf } from '../request-parts.ts'

export { pageSwitches } from '../request-parts.ts'

const text = (name: string) => z.string(`must be the ${name}, as text`).check(z.minLength(1, 'must not be empty'))

const period = z.optional(z.literal(Object.keys(lifetimes) as (keyof typeof lifetimes)[], 'must be short or long'))

/** */
export const signInBody = objectOf({ username: text('name'), password: text('password'), tokenExpiryPeriod: period })

/** */
export const codeBody = objectOf({ code: text('code'), verifier: text('verifier'), tokenExpiryPeriod: period })

export const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'
const jwtType = 'urn:ietf:params:oauth:token-type:jwt'
export const issuedType = 'urn:ietf:params:oauth:token-type:access_token'

/** */
export const exchangeBody = objectOf({
  grant_type: z.literal(exchangeGrant, `must be ${exchangeGrant}`),
  subject_token: text('token of the issuer'),
  subject_token_type: z.literal(jwtType, `must be ${jwtType}`),
  resource: z.optional(z.string('must be the number of a site')),
  requested_token_type: z.optional(z.literal(issuedType, `must be ${issuedType}`)),
})

export const invitationBody = objectOf({
  invitation: text('invitation'),
  password: text('password'),
  tokenExpiryPeriod: period,
})

export const passwordBody = objectOf({ password: text('new password'), oldPassword: text('old password') })

const listOf = (isValid: (entry: string) => boolean, message: string) =>
  z
    .array(z.string(message).check(atMost(1_000), z.refine(isValid, message)), 'must be a list of texts')
    .check(z.maxLength(mostEntries, `must have ${mostEntries} entries or fewer`))

const named = z.string('must be a text').check(
  atMost(200),
  z.refine((value) => /^\P{Cc}*$/u.test(value) && value.isWellFormed(), 'must not have control characters'),
)

const email = z.string('must be a text').check(
  atMost(longestEmail),
  z.refine((value) => value === '' || isEmail(value), 'must be an e-mail address'),
)

const isRight = (right: string): boolean => parseRight(right) !== undefined
const rightFault = 'must be a right, such as files:write:/news'

const entry = {
  role: z.optional(z.literal([...roleNames], `must be ${roleNames.join(', ')}`)),
  folders: z.optional(listOf((folder) => parseFolder(folder) !== undefined, 'must be a folder, such as /news')),
  rights: z.optional(listOf(isRight, rightFault)),
}

export type GivenEntry = z.output<z.ZodMiniObject<typeof entry>>

const hasItsFolders = ({ role, folders }: GivenEntry): boolean =>
  role === 'author' ? (folders?.length ?? 0) > 0 : folders === undefined

const oneEntry = z.refine<GivenEntry>(
  ({ role, rights }) => role === undefined || rights === undefined,
  'Send either role or rights',
)
const itsFolders = z.refine<GivenEntry>(hasItsFolders, 'Send folders with the role author, and only with this role')

const description = { displayName: z.optional(named), email: z.optional(email) }

/** */
export const userCreationBody = objectOf({ name: text('name'), ...description, ...entry }).check(
  oneEntry,
  itsFolders,
  z.refine(({ role, rights }) => role !== undefined || rights !== undefined, 'Send role or rights'),
)

export const userChangeBody = objectOf({
  ...description,
  disabled: z.optional(z.boolean('must be true or false')),
  invite: z.optional(z.literal(true, 'must be true, or be left out')),
  ...entry,
}).check(oneEntry, itsFolders, anyMember)

/** */
export const keyCreationBody = objectOf({
  name: named.check(z.minLength(1, 'must not be empty')),
  rights: listOf(isRight, rightFault).check(z.minLength(1, 'must have at least one right')),
  expires: z.optional(z.iso.datetime({ offset: true, error: 'must be a time, such as 2027-01-31T12:00:00Z' })),
})
