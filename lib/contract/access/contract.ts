import * as z from 'zod/mini'
import { component, described, type GroupContract, named, ok, text } from '../contract.ts'
import { codeBody, exchangeBody, signInBody } from './bodies.ts'
import { accessXml } from './xml-names.ts'

export const token = component('Token', 'A token for the next requests.', {
  token: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
})

export const exchanged = component('ExchangedToken', 'A token for a program, as RFC 8693 describes it.', {
  access_token: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  issued_token_type: z.literal('urn:ietf:params:oauth:token-type:access_token'),
  token_type: z.literal('Bearer'),
  expires_in: described(z.int(), 'Seconds.'),
  scope: described(z.string(), 'Rights, separated by blanks. Odd characters of folders are percent-encoded.'),
})

export const issuers = component('SignInIssuers', 'The issuers through which people can sign in.', {
  items: z.array(z.object({ id: z.string() })),
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

const begun = 'The browser continues elsewhere, with a cookie for the end of this sign-in.'

const issuerParameter = text('The id of an issuer.', 'work')

export const accessContract: GroupContract<'access'> = {
  tag,
  parameters: { issuer: issuerParameter },
  operations: {
    signIn: {
      ...signIn,
      summary: 'Sign in with a password, a code, or the token of an issuer',
      description: `${signIn.description} A program sends the token of an issuer, as RFC 8693 describes it.`,
      body: {
        schema: z.union([
          signIn.body.schema,
          named(codeBody, 'SignInCode', 'The code that the console gets after a sign-in at an issuer.'),
          named(exchangeBody, 'TokenExchange', 'The token of an issuer, which works once.'),
        ]),
        description: 'JSON or a form.',
      },
      answers: ok('The token.', z.union([token, exchanged])),
      errors: [...signIn.errors, 'exchangeRefused', 'exchangeMalformed', 'grantTypeUnknown', 'targetRefused'],
    },
    listIssuers: {
      tag,
      summary: 'List the issuers through which people can sign in',
      answers: ok('The issuers.', issuers),
    },
    beginExternalSignIn: {
      tag,
      summary: 'Send a browser to an issuer to sign in',
      query: {
        challenge: text(
          'The SHA-256 of a random verifier, in base64url (PKCE).',
          'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        ),
      },
      answers: { 303: { description: begun, headers: ['Location', 'Cache-Control'] } },
      errors: ['accessMalformed', 'routeUnknown'],
    },
    finishExternalSignIn: {
      tag,
      summary: 'Receive a browser from an issuer',
      description: 'The browser continues at the console, with `#code=…` or, after a failure, `#error=…&request=…`.',
      answers: { 303: { description: begun, headers: ['Location', 'Cache-Control'] } },
      errors: ['routeUnknown'],
    },
    signInV1: {
      ...signIn,
      summary: 'Sign in with name and password, like clients of the former service',
      body: { ...signIn.body, description: 'JSON, a form, or XML with any root.' },
    },
  },
}
