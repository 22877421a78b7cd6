import * as z from 'zod/mini'
import { xmlNames } from '../../http/write-xml.ts'
import { created, type GroupContract, named, ok, parameter, siteParameter, switchesOf, text } from '../contract.ts'
import { pageSwitches } from '../request-parts.ts'
import { createdKey, exchanged, invitation, issuers, keyList, me, token, user, userPage } from './answers.ts'
import * as bodies from './bodies.ts'

const credentials = { username: 'ann', password: 'correct horse battery' }

// The service that runs the examples has this invitation.
const acceptance = { invitation: `joe.${'d2f1'.repeat(16)}`, password: 'correct horse battery' }

const signIn = {
  summary: 'Sign in with name and password',
  description:
    'The token covers the sites of the person. It lasts 2 weeks, or 4 hours with `tokenExpiryPeriod` `short`.',
  body: { schema: named(bodies.signInBody, 'SignIn'), xml: xmlNames.credentials, description: 'JSON or a form.' },
  answers: ok('The token.', token, { xml: xmlNames.token }),
  errors: ['accessMalformed', 'signInRefused', 'tooManyRequests'],
  examples: [{ body: credentials }, { body: { ...credentials, password: 'guess' } }, { body: {} }],
} satisfies GroupContract<'access'>['operations']['signIn']

const redirect = {
  303: {
    description: 'Redirects the browser, and sets or clears the cookie of this sign-in.',
    headers: ['Location', 'Cache-Control'],
  },
} as const

const signOut = {
  summary: 'Revoke the token of the request',
  answers: { 200: { description: 'The token no longer works.' } },
  examples: [],
} satisfies GroupContract<'access'>['operations']['signOut']

const ofUser = ['personUnknown'] as const
const tagged = { headers: ['ETag'] } as const

const pages = switchesOf(pageSwitches, {
  limit: ['The largest number of entries in the answer: at most 500, which is the default.', 100],
  cursor: ['The `nextCursor` of the previous answer.', ''],
})

export const accessContract: GroupContract<'access'> = {
  tag: { name: 'Access', description: 'Sign-in, sessions and the people of a site.' },
  parameters: {
    ownSite: { ...siteParameter, description: 'The id of a site of the person, or `current`.' },
    issuer: text('The id of an issuer.', 'work'),
    key: parameter('The id of the key.', 'd2f1'.repeat(16), z.string()),
    user: parameter('The name of the person, in upper or lower case.', 'bob', z.string()),
  },
  operations: {
    signIn: {
      ...signIn,
      summary: 'Sign in with a password, a code, or the token of an issuer',
      description: `${signIn.description} A program sends the token of an issuer, as described in RFC 8693.`,
      body: {
        schema: z.union([
          signIn.body.schema,
          named(bodies.codeBody, 'SignInCode', 'The code that the console gets after a sign-in at an issuer.'),
          named(bodies.exchangeBody, 'TokenExchange', 'The token of an issuer, which works once.'),
        ]),
        description: 'JSON or a form.',
      },
      answers: ok('The token.', z.union([token, exchanged])),
      errors: [...signIn.errors, 'exchangeRefused', 'exchangeMalformed', 'grantTypeUnknown', 'targetRefused'],
    },
    listIssuers: {
      summary: 'List the issuers through which people can sign in',
      answers: ok('The issuers.', issuers),
    },
    beginExternalSignIn: {
      summary: 'Redirect a browser to an issuer to sign in',
      query: {
        challenge: text(
          'The SHA-256 of a random verifier, in base64url (PKCE).',
          'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        ),
      },
      answers: redirect,
      errors: ['accessMalformed', 'routeUnknown'],
      examples: [],
    },
    finishExternalSignIn: {
      summary: 'Receive the browser after a sign-in at an issuer',
      description: 'The browser continues at the console, with `#code=…` or, after a failure, `#error=…&request=…`.',
      answers: redirect,
      errors: ['routeUnknown'],
      examples: [],
    },
    signInV1: {
      ...signIn,
      summary: 'Sign in with name and password, like clients of the former service',
      body: { ...signIn.body, description: 'JSON, a form, or XML with any root.' },
    },
    acceptInvitation: {
      summary: 'Accept an invitation',
      description: 'Sets the password, ends older sessions and signs in.',
      body: { schema: named(bodies.invitationBody, 'Acceptance') },
      answers: ok('The token.', token),
      errors: ['accessMalformed', 'signInRefused', 'invitationUnknown', 'passwordWeak'],
      examples: [{ body: acceptance }, { body: acceptance }],
    },
    getMe: { summary: 'Read the owner and the rights of the token', answers: ok('The owner of the token.', me) },
    changePassword: {
      summary: 'Change your password',
      description: 'Ends your other sessions, and all tokens for one site. Your keys stay valid.',
      body: { schema: named(bodies.passwordBody, 'PasswordChange') },
      answers: { 200: { description: 'The password is changed.' } },
      errors: ['accessMalformed', 'signInRefused', 'passwordWeak', 'tooManyRequests'],
      examples: [{ body: { password: 'battery staple correct', oldPassword: 'correct horse battery' } }],
    },
    createSiteToken: {
      summary: 'Get a token for one site',
      description:
        'The new token ends with the session of the sign-in: it expires at the same time, and a sign-out ends it.',
      answers: ok('The token.', token),
      errors: ['signInRefused', 'siteAmbiguous'],
    },
    listUsers: {
      summary: 'List the people of a site',
      answers: ok('The people, sorted by name.', userPage),
      query: pages,
      errors: ['accessMalformed'],
    },
    addUser: {
      summary: 'Add a person to a site',
      description:
        'A new person gets an invitation. Send it to the person, because the service sends no mail. A person who ' +
        'already has another site can then use this site, too, but gets no invitation. You can give only rights that ' +
        'you have.',
      body: { schema: named(bodies.userCreationBody, 'UserCreation') },
      answers: created('The person can now use the site.', invitation),
      errors: ['accessMalformed', 'rightMissing', 'personTaken'],
      examples: [
        { body: { name: 'bob', displayName: 'Bob', email: 'bob@example.com', role: 'author', folders: ['/news'] } },
        { body: { name: 'bob', role: 'viewer' } },
      ],
    },
    getUser: { summary: 'Read a person of a site', answers: ok('The person.', user, tagged), errors: ofUser },
    changeUser: {
      summary: 'Change a person of a site',
      description:
        '`role`, `folders` and `rights` change the rights on this site. The other members change the person on all ' +
        'sites, and need every right that the person has. `invite` creates a new invitation, with which the person ' +
        'chooses a new password. Send `email` with it, if an account at an issuer with this address may accept it, too.',
      body: { schema: named(bodies.userChangeBody, 'UserChange') },
      answers: ok('The person is changed.', invitation),
      errors: ['accessMalformed', 'rightMissing', 'lastOwner', 'conditionFailed', ...ofUser],
      examples: [{ body: { role: 'editor' } }, { body: { role: 'director' } }],
    },
    removeUser: {
      summary: 'Remove a person from a site',
      description:
        'Removes the person from all sites if you have every right of the person on every site. Otherwise, removes ' +
        'the person only from this site. After the last site, the person no longer exists.',
      answers: { 200: { description: 'The person is removed.' } },
      errors: ['lastOwner', 'conditionFailed', ...ofUser],
    },
    signOutOfSite: signOut,
    signOutV1: signOut,
    signOut: {
      ...signOut,
      description: 'With `all`, ends all sessions of the person.',
      query: { all: parameter('Ends all sessions of the person.', '', z.string()) },
      errors: ['signInRefused'],
    },
    listKeys: {
      summary: 'List the keys of a site',
      answers: ok('The keys.', keyList),
      query: pages,
      errors: ['accessMalformed'],
    },
    createKey: {
      summary: 'Create a key for a program',
      description:
        'The key belongs to the person of the token, and has only rights that this person also has. Without ' +
        '`expires`, the key lasts 90 days. A key can last at most a year.',
      body: { schema: named(bodies.keyCreationBody, 'KeyCreation') },
      answers: created('The key. No other answer shows the key.', createdKey),
      errors: ['accessMalformed'],
      examples: [{ body: { name: 'Deployment', rights: ['files:write:/news'] } }, { body: { name: '', rights: [] } }],
    },
    deleteKey: {
      summary: 'Revoke a key',
      description: 'The key stops working within a minute.',
      answers: { 200: { description: 'The key is revoked.' } },
      errors: ['keyUnknown'],
    },
  },
}
