import * as z from 'zod/mini'
import { component, described, type GroupContract, named, ok, parameter, siteParameter } from '../contract.ts'
import { newKeyBody, signInBody } from './bodies.ts'
import { accessXml } from './xml-names.ts'

export const token = component('Token', 'A token for the next requests.', {
  token: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
})

const keyMembers = {
  id: described(z.string(), 'Identifies the key. It is no secret.'),
  name: z.string(),
  rights: described(z.array(z.string()), 'Those that its person has now too, such as `files:write:/news`.'),
  expires: z.iso.datetime(),
}

const key = component('Key', 'A key for a program.', {
  ...keyMembers,
  user: described(z.string(), 'The person to whom it belongs.'),
  lastUsed: described(z.nullable(z.iso.date()), 'The day of its last use, or null.'),
})

export const keyList = component('KeyList', 'The keys of the site, sorted by name.', { items: z.array(key) })

export const createdKey = component('CreatedKey', 'A new key.', {
  ...keyMembers,
  key: described(z.string(), 'The key itself, for the header `Authorization`. No other answer has it.'),
})

const tag = { name: 'Access', description: 'Sign-in, sessions and the people of a site.' }

const credentials = { username: 'ann', password: 'correct horse battery' }

const signIn = {
  tag,
  summary: 'Sign in with name and password',
  description:
    'The token covers the sites of the person. It lasts 2 weeks, or 4 hours with `tokenExpiryPeriod` `short`.',
  body: {
    schema: named(signInBody, 'SignIn'),
    xml: accessXml.signIn,
    description: 'JSON or a form.',
  },
  answers: ok('The token.', token, { xml: accessXml.token }),
  errors: ['accessMalformed', 'signInRefused'],
  examples: [{ body: credentials }, { body: { ...credentials, password: 'guess' } }, { body: {} }],
} satisfies GroupContract<'access'>['operations']['signIn']

export const accessContract: GroupContract<'access'> = {
  tag,
  parameters: { site: siteParameter, key: parameter('The id of the key.', 'd2f1'.repeat(16), z.string()) },
  operations: {
    signIn,
    signInV1: {
      ...signIn,
      summary: 'Sign in with name and password, like clients of the former service',
      body: { ...signIn.body, description: 'JSON, a form, or XML with any root.' },
    },
    listKeys: { summary: 'List the keys of a site', answers: ok('The keys.', keyList) },
    createKey: {
      summary: 'Create a key for a program',
      description:
        'The key belongs to the person of the token, and has only rights that this person has too. Without `expires` ' +
        'it lasts 90 days; a year is the longest.',
      body: { schema: named(newKeyBody, 'NewKey') },
      answers: { 201: { description: 'The key, which no other answer shows.', schema: createdKey } },
      errors: ['accessMalformed'],
      examples: [{ body: { name: 'Deployment', rights: ['files:write:/news'] } }, { body: { name: '', rights: [] } }],
    },
    deleteKey: {
      summary: 'Revoke a key',
      description: 'It stops working within a minute.',
      answers: { 200: { description: 'The key is revoked.' } },
      errors: ['keyUnknown'],
    },
  },
}
