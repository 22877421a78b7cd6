import fc from 'fast-check'
import { hashToken } from '../../../lib/access/grants.ts'
import type { Answer } from '../../support/answer.ts'
import type { Operation, State } from './operations.ts'
import type { ScheduledSite, Secret } from './scheduled-stores.ts'

// The state has each session with its parent, and each key with the invitation of its person.
const user = 'cat'
const rightsOf = { write: ['access:write', 'files:write'], read: ['access:write', 'files:read'] } as const
const without = (state: State, ...starts: readonly string[]): Map<string, string> =>
  new Map([...state].filter(([name]) => !starts.some((start) => name.startsWith(start))))
const plus = (state: State, ...entries: readonly (readonly [string, string])[]) => new Map([...state, ...entries])
const hasUser = (state: State): boolean => state.has(user)
const isEnabled = (state: State): boolean => hasUser(state) && !state.has('disabled')
const rootOf = (state: State, token: string): string => state.get(`session ${token}`) || token
const works = (state: State, text: string): boolean => {
  if (state.has(`key ${text}`)) return isEnabled(state) && state.get(`key ${text}`) === state.get(user)
  return isEnabled(state) && state.has(`session ${text}`) && state.has(`session ${rootOf(state, text)}`)
}
const secretIn = ({ json }: Answer): string =>
  json?.token ?? json?.key ?? decodeURIComponent(json?.invitation?.split('=')[1] ?? '')

interface Act {
  readonly uses?: Secret
  readonly gives?: Secret
  readonly call: (secret: string, site: ScheduledSite) => Parameters<ScheduledSite['request']>
  readonly may: (state: State, secret: string, answer: Answer) => boolean
  readonly change?: (state: State, secret: string, given: string) => State
  readonly entry?: string
  readonly inRace?: Act['may']
}
const as = (Authorization: string, body?: object) => ({ headers: { Authorization }, ...(body && { body }) })
const look: Pick<Act, 'call' | 'may'> = {
  call: (text) => ['GET', '/me', as(text)],
  may: (state, text, { status, json }) =>
    works(state, text) && (status >= 300 || String(json?.sites?.[0]?.rights).includes(`files:${state.get('rights')}`)),
}
const put = (body: object, change: NonNullable<Act['change']>): Act => ({
  call: () => ['PUT', `users/${user}`, { body }],
  ...{ may: hasUser, change, entry: `changed user/${user}` },
})
const give = (rights: keyof typeof rightsOf): Act =>
  put({ rights: rightsOf[rights] }, (state) => {
    const isEnded = state.has('password') && state.get('rights') !== rights
    return plus(isEnded ? without(state, 'invitation') : state, ['rights', rights])
  })
const withPassword = (state: State, password: string, session: string): State =>
  plus(without(state, 'session ', 'invitation'), ['password', password], [`session ${session}`, ''])
const accept = (password: string): Act => ({
  ...{ uses: 'invitation', gives: 'session' },
  call: (invitation) => ['POST', '/invitations', { body: { invitation, password } }],
  may: (state, invitation) => isEnabled(state) && state.get('invitation') === invitation,
  change: (state, _, given) => withPassword(state, password, given),
})
const signIn = (password: string): Act => ({
  gives: 'session',
  call: (_, { id }) => ['POST', '/tokens', { body: { username: `${user}.${id}`, password } }],
  may: (state) => isEnabled(state) && state.get('password') === password,
  change: (state, _, given) => plus(state, [`session ${given}`, '']),
})
const changePassword = (oldPassword: string, password: string): Act => ({
  uses: 'session',
  call: (token) => ['PUT', '/me', as(token, { oldPassword, password })],
  may: (state, token) => works(state, token) && state.get('password') === oldPassword,
  inRace: (state) => isEnabled(state) && state.get('password') === oldPassword,
  change: (state, token) => withPassword(state, password, works(state, token) ? rootOf(state, token) : ''),
})
const [first, second] = ['correct horse 1', 'correct horse 2'] as const
const acts = {
  ...{ 'use session': { uses: 'session', ...look }, 'use key': { uses: 'key', ...look } },
  'get site token': {
    ...{ uses: 'session', gives: 'session', may: works },
    call: (token, { id }) => ['POST', `/sites/${id}/tokens`, as(token)],
    change: (state, token, given) => plus(state, [`session ${given}`, rootOf(state, token)]),
  },
  'sign out': {
    ...{ uses: 'session', may: works, inRace: () => true },
    call: (token) => ['DELETE', '/tokens', as(token)],
    change: (state, token) => without(state, `session ${token}`),
  },
  'sign out everywhere': {
    ...{ uses: 'session', may: works, inRace: () => true },
    call: (token) => ['DELETE', '/tokens', { ...as(token), query: { all: '' } }],
    change: (state) => without(state, 'session '),
  },
  'create key': {
    ...{ uses: 'session', gives: 'key', entry: 'created key/KEY' },
    call: (token) => ['POST', 'keys', as(token, { name: 'Key', rights: rightsOf.write })],
    may: (state, token) => works(state, token) && state.get('rights') === 'write',
    change: (state, _, given) => plus(state, [`key ${given}`, String(state.get(user))]),
  },
  'revoke key': {
    ...{ uses: 'key', entry: 'removed key/KEY', inRace: () => true },
    call: (key) => ['DELETE', `keys/${hashToken(key)}`],
    may: (state, key) => state.has(`key ${key}`),
    change: (state, key) => without(state, `key ${key}`),
  },
  invite: {
    ...put({ invite: true }, (state, _, given) => plus(state, ['invitation', given])),
    ...{ gives: 'invitation', may: isEnabled, entry: `invited user/${user}` },
  },
  add: {
    ...{ gives: 'invitation', entry: `created user/${user}` },
    call: (_, { id }) => ['POST', 'users', { body: { name: `${user}.${id}`, rights: rightsOf.write } }],
    may: (state) => !hasUser(state),
    change: (state, _, given) => plus(state, [user, given], ['rights', 'write'], ['invitation', given]),
  },
  remove: {
    ...put({}, (state) => new Map([...state].filter(([name]) => name.startsWith('key ')))),
    ...{ call: () => ['DELETE', `users/${user}`], entry: `removed user/${user}`, inRace: () => true },
  },
  disable: put({ disabled: true }, (state) => plus(state, ['disabled', 'true'])),
  enable: put({ disabled: false }, (state) => without(state, 'disabled')),
  ...{ 'give read': give('read'), 'give write': give('write') },
  ...{ 'sign in': signIn(first), 'sign in anew': signIn(second), accept: accept(first), 'accept anew': accept(second) },
  ...{ 'change password': changePassword(first, second), 'change it back': changePassword(second, first) },
} satisfies Readonly<Record<string, Act>>
type Name = keyof typeof acts
const act = (name: Name, index = 0): Operation => {
  const { uses, gives, call, may, change = (state) => state, entry, inRace }: Act = acts[name]
  let [secret, given] = ['', '']
  return {
    get label() {
      return [name, uses && secret.slice(-8), given.slice(-8)].join(' ')
    },
    get entry() {
      return entry?.replace('KEY', hashToken(given || secret).slice(0, 12))
    },
    async run(site) {
      secret = (uses && site.secrets[uses].at(-1 - index)) ?? '0'.repeat(64)
      const answer = await site.request(...call(secret, site))
      given = gives && answer.status < 300 ? secretIn(answer) : ''
      if (gives && given) site.secrets[gives].push(given)
      return answer
    },
    succeed: (state, answer) => (may(state, secret, answer) ? change(state, secret, given) : undefined),
    inRace: (state, answer) =>
      inRace?.(state, secret, answer) && !may(state, secret, answer) ? change(state, secret, given) : undefined,
    mayHaveNoEntry: inRace !== undefined,
  }
}
export const people = { [user]: 'first' }
export const beginSession = (['give write', 'invite', 'accept'] as const).map((name) => act(name))
export const useAll = [
  ...[0, 1, 2, 3, 4, 5].map((index) => act('use session', index)),
  ...[0, 1, 2].flatMap((index) => [act('use key', index), act('accept', 2 - index)]),
]
export const anySessionOperation: fc.Arbitrary<() => Operation> = fc
  .tuple(fc.constantFrom(...(Object.keys(acts) as Name[])), fc.constantFrom(0, 0, 1, 2))
  .map((chosen) => () => act(...chosen))
