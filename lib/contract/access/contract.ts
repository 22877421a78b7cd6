import * as z from 'zod/mini'
import { component, type GroupContract, named, ok } from '../contract.ts'
import { signInBody } from './bodies.ts'
import { accessXml } from './xml-names.ts'

export const token = component('Token', 'A token for the next requests.', {
  token: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
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
  parameters: {},
  operations: {
    signIn,
    signInV1: {
      ...signIn,
      summary: 'Sign in with name and password, like clients of the former service',
      body: { ...signIn.body, description: 'JSON, a form, or XML with any root.' },
    },
  },
}
