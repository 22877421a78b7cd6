import { createHash, randomUUID } from 'node:crypto'
import type { Answer } from '../../support/answer.ts'
import { createSite, issueToken } from './admin.ts'
import { type Call, call } from './http.ts'

const everything = ['files:write', 'forms:write', 'categories:write', 'history:write', 'access:write']

export const tokens = '/api/v2/admin/tokens'
export const me = '/api/v2/admin/me'
export const password = 'correct horse battery'

/** A name that no other case uses. */
export const newName = (start = 'ann'): string => `${start}.${randomUUID().slice(0, 13)}`

/** An address for each name, so that cases do not share the limit of an address. */
const addressOf = (name: string): string =>
  `2001:db8:${createHash('sha256').update(name).digest('hex').slice(0, 8).replace(/.{4}/, '$&:')}::1`

export const signIn = (username: string, own = password, more: object = {}): Promise<Answer> =>
  call(tokens, {
    method: 'POST',
    token: null,
    body: { username, password: own, ...more },
    headers: { 'X-Forwarded-For': addressOf(username) },
  })

export const accept = (invitation: string, own = password): Promise<Answer> =>
  call('/api/v2/admin/invitations', {
    method: 'POST',
    token: null,
    body: { invitation: decodeURIComponent(invitation.split('#invitation=')[1] ?? ''), password: own },
  })

interface Person {
  readonly name: string
  readonly token: string
}

/** Creates a site, and returns the requests of a person who has these rights on it. */
export const openSite = async (rights: readonly string[] = everything, name = 'People') => {
  const site = await createSite(name)
  const manager = await issueToken([site], ...rights)
  const users = `/api/v2/admin/sites/${site}/users`
  const ask = (method: string, path = '', body?: unknown, token = manager, ifMatch?: string): Promise<Answer> => {
    const headers = ifMatch === undefined ? {} : { 'If-Match': ifMatch }
    return call(`${users}${path}`, { method, token, headers, ...(body !== undefined && { body }) } satisfies Call)
  }

  const invite = async (entry: object = { role: 'owner' }, own = newName()): Promise<string> =>
    (await ask('POST', '', { name: own, ...entry })).json.invitation

  /** Adds somebody, who accepts the invitation. */
  const addPerson = async (entry: object = { role: 'owner' }, own = newName()): Promise<Person> => {
    const { json } = await accept(await invite(entry, own))
    return { name: own, token: json.token }
  }

  return { site, manager, ask, invite, addPerson }
}
