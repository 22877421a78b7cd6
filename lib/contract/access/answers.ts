import * as z from 'zod/mini'
import { roleNames } from '../../access/people.ts'
import { component, described } from '../contract.ts'

export const token = component('Token', 'A token for the next requests.', {
  token: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
})

export const exchanged = component('ExchangedToken', 'A token for a program (RFC 8693).', {
  access_token: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  issued_token_type: z.literal('urn:ietf:params:oauth:token-type:access_token'),
  token_type: z.literal('Bearer'),
  expires_in: described(z.int(), 'Seconds.'),
  scope: described(
    z.string(),
    'Rights, separated by spaces. Characters of a folder that a scope does not allow are percent-encoded.',
  ),
})

export const issuers = component('SignInIssuers', 'The issuers through which people can sign in.', {
  items: z.array(z.object({ id: z.string() })),
})

const keyMembers = {
  id: described(z.string(), 'The id of the key. The id is not a secret.'),
  name: z.string(),
  rights: described(
    z.array(z.string()),
    'The rights of the key that its person also has now, such as `files:write:/news`.',
  ),
  expires: z.iso.datetime(),
}

const key = component('Key', 'A key for a program.', {
  ...keyMembers,
  user: described(z.string(), 'The name of the person who owns the key.'),
  lastUsed: described(z.nullable(z.iso.date()), 'The day when the key was last used, or null.'),
})

const nextCursor = described(z.optional(z.string()), 'Send this value as `cursor`. The last page has no `nextCursor`.')

export const keyList = component('KeyList', 'Keys of the site, sorted by name.', { keys: z.array(key), nextCursor })

export const createdKey = component('CreatedKey', 'A new key.', {
  ...keyMembers,
  key: described(z.string(), 'The key itself, for the header `Authorization`. No other answer contains the key.'),
})

const entry = {
  role: described(z.nullable(z.literal([...roleNames])), 'Null when the person has a list of rights instead.'),
  folders: described(z.array(z.string()), 'The folders that the role `author` may change.'),
  rights: described(z.array(z.string()), 'The rights of the role or the list, such as `files:write:/news`.'),
}

const siteOfMe = component('SiteOfMe', 'A site that the token covers, with the rights of the token on this site.', {
  id: z.int(),
  ...entry,
})

export const me = component('Me', 'The owner of the token. Tokens that `token issue` created belong to no person.', {
  name: z.string(),
  displayName: z.nullable(z.string()),
  email: z.nullable(z.string()),
  lastSignIn: described(z.nullable(z.string()), 'A day.'),
  kind: described(z.literal(['token', 'session', 'key']), '`session` means that the token is from a sign-in.'),
  hasPassword: described(z.boolean(), 'False if the person signs in only through an issuer.'),
  expires: z.string(),
  sites: z.array(siteOfMe),
})

export const user = component('User', 'A person, with the role and rights on one site.', {
  name: z.string(),
  displayName: z.string(),
  email: z.string(),
  disabled: z.boolean(),
  invited: described(z.boolean(), 'True if the person has an invitation that was not accepted yet.'),
  lastSignIn: described(z.nullable(z.string()), 'A day.'),
  ...entry,
})

export const userPage = component('UserPage', 'People of a site, sorted by name.', { users: z.array(user), nextCursor })

export const invitation = component('Invitation', 'A person, and the invitation, if the request created one.', {
  name: z.string(),
  invitation: described(z.optional(z.string()), 'A link for the person. It works once, within 7 days.'),
  expires: z.optional(z.string()),
})
