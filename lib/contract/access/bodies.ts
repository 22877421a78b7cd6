import * as z from 'zod/mini'
import { roleNames } from '../../access/roles.ts'
import { lifetimes } from '../../access/sessions.ts'
import { parseRight } from '../../core/rights.ts'

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

const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'
const jwtType = 'urn:ietf:params:oauth:token-type:jwt'
const issuedType = 'urn:ietf:params:oauth:token-type:access_token'

/** */
export const exchangeBody = z.object(
  {
    grant_type: z.literal(exchangeGrant, `must be ${exchangeGrant}`),
    subject_token: text('token of the issuer'),
    subject_token_type: z.literal(jwtType, `must be ${jwtType}`),
    resource: z.optional(z.string('must be the number of a site')),
    requested_token_type: z.optional(z.literal(issuedType, `must be ${issuedType}`)),
  },
  'must be an object',
)

export const invitationBody = z.object(
  { invitation: text('invitation'), password: text('password'), tokenExpiryPeriod: period },
  'must be an object',
)

export const passwordBody = z.object(
  { password: text('new password'), oldPassword: text('old password') },
  'must be an object',
)

const mostRights = 50

const listOf = (isValid: (entry: string) => boolean, message: string) =>
  z
    .array(
      z.string(message).check(z.maxLength(1_000, 'must have 1000 characters or fewer'), z.refine(isValid, message)),
      'must be a list of texts',
    )
    .check(z.maxLength(mostRights, `must have ${mostRights} entries or fewer`))

const isFolder = (folder: string): boolean =>
  folder.startsWith('/') && parseRight(`files:write:${folder}`) !== undefined

const named = z.string('must be a text').check(
  z.maxLength(200, 'must have 200 characters or fewer'),
  z.refine((value) => /^\P{Cc}*$/u.test(value) && value.isWellFormed(), 'must not have control characters'),
)

const email = z.string('must be a text').check(
  z.maxLength(254, 'must have 254 characters or fewer'),
  z.refine((value) => /^(?:[^\s@\p{Cc}]+@[^\s@\p{Cc}]+)?$/u.test(value), 'must be an e-mail address'),
)

const isRight = (right: string): boolean => parseRight(right) !== undefined
const rightFault = 'must be a right, such as files:write:/news'

const entry = {
  role: z.optional(z.literal([...roleNames], `must be ${roleNames.join(', ')}`)),
  folders: z.optional(listOf(isFolder, 'must be a folder, such as /news')),
  rights: z.optional(listOf(isRight, rightFault)),
}

interface GivenEntry {
  readonly role?: string | undefined
  readonly folders?: readonly string[] | undefined
  readonly rights?: readonly string[] | undefined
}

const isOneEntry = ({ role, folders, rights }: GivenEntry): boolean =>
  rights === undefined ? role !== undefined || folders === undefined : role === undefined && folders === undefined

const hasItsFolders = ({ role, folders }: GivenEntry): boolean =>
  role === 'author' ? (folders?.length ?? 0) > 0 : folders === undefined

const oneEntry = z.refine<GivenEntry>(isOneEntry, 'Send either role or rights')
const itsFolders = z.refine<GivenEntry>(hasItsFolders, 'Send folders with the role author, and only with this role')

/** */
export const newUserBody = z
  .object(
    { name: text('name'), displayName: z.optional(named), email: z.optional(email), ...entry },
    'must be an object',
  )
  .check(
    oneEntry,
    itsFolders,
    z.refine(({ role, rights }) => role !== undefined || rights !== undefined, 'Send role or rights'),
  )

export const userChangeBody = z
  .object(
    {
      displayName: z.optional(named),
      email: z.optional(email),
      disabled: z.optional(z.boolean('must be true or false')),
      invite: z.optional(z.literal(true, 'must be true, or be left out')),
      ...entry,
    },
    'must be an object',
  )
  .check(
    oneEntry,
    itsFolders,
    z.refine(
      (change) => Object.values(change).some((value) => value !== undefined),
      'Send at least one member to change',
    ),
  )

/** */
export const newKeyBody = z.object(
  {
    name: named.check(z.minLength(1, 'must not be empty')),
    rights: listOf(isRight, rightFault).check(z.minLength(1, 'must have at least one right')),
    expires: z.optional(z.iso.datetime({ offset: true, error: 'must be a time, such as 2027-01-31T12:00:00Z' })),
  },
  'must be an object',
)
