import { argon2Sync, randomBytes } from 'node:crypto'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { type Caller, findCaller, type Grant, hashToken } from '../../../lib/access/grants.ts'
import { updatePerson } from '../../../lib/access/people.ts'
import {
  acceptInvitation,
  authenticatePerson,
  beginSession,
  changePassword,
  endSessions,
  invite,
  matchesPassword,
} from '../../../lib/access/sign-in.ts'
import { countedAttempt } from '../../../lib/access/sign-in-limits.ts'
import { ServiceError } from '../../../lib/core/errors.ts'
import { type SiteId, storedId } from '../../../lib/core/ids.ts'
import type { SignInRecord } from '../../../lib/http/request.ts'
import { answerOf, statusAndCode } from '../../support/answer.ts'
import { answerTo, requestOf, send, textOf } from '../../support/gateway.ts'
import { openHandler } from '../../support/handlers.ts'
import { type Hand, hands, oneMachine } from '../../support/hands.ts'
import { entry } from '../../support/history.ts'
import { testPerson } from '../../support/people.ts'

const password = 'correct horse battery'
const tokens = '/api/v2/admin/tokens'

/** A hash with less memory and one pass, as an earlier version may have stored it. */
const weakHash = (): string => {
  const nonce = randomBytes(16)
  const shape = { memory: 1024, passes: 1, parallelism: 1, tagLength: 32 }
  const tag = argon2Sync('argon2id', { message: password, nonce, ...shape })
  const inBase64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  return `$argon2id$v=19$m=1024,t=1,p=1$${inBase64(nonce)}$${inBase64(tag)}`
}

// The rules of sign-in know no store, so one store is enough.
const hand = await oneMachine.open()
await hand.stores.people.create(testPerson({ password: weakHash() }), [])
const shop = { id: storedId<SiteId>(1001), name: 'Shop', dataCentre: 'us', renderingEngine: true }
await hand.stores.sites.createSite(shop, entry)
afterAll(() => hand.close())

const weaken = (name: string) =>
  updatePerson(hand.stores.people, name, (person) => ({ after: { ...person, password: weakHash() } }))

const fail = async () => {
  throw new ServiceError('signInRefused')
}

test('An attempt that one limit refuses does not count under the others (A-76)', async () => {
  const narrow = { key: 'narrow', most: 1 }
  const wide = { key: 'wide', most: 2 }
  const codes = []
  for (const limits of [[wide, narrow], [wide, narrow], [wide], [wide]])
    codes.push(await countedAttempt(hand.stores.attempts, limits, fail).catch(({ code }) => code))
  expect(codes).toEqual([101001, 100429, 101001, 100429])
})

test('A refused address stores nothing about the names that it tries (A-76)', async () => {
  const { attempts } = hand.stores
  const stored: string[] = []
  const count: typeof attempts.count = (limit) => {
    stored.push(limit.key)
    return attempts.count(limit)
  }
  const limitsOf = (name: string) => [
    { key: 'address', most: 1 },
    { key: name, most: 5 },
  ]
  for (const name of ['ann', 'bob']) await countedAttempt({ ...attempts, count }, limitsOf(name), fail).catch(() => {})
  expect(stored).toEqual(['address', 'ann', 'address'])
})

test('An attempt that cannot be counted under one limit counts nowhere (A-76, E-16)', async () => {
  const { attempts } = hand.stores
  const counted = { key: 'counted', most: 1 }
  const broken = { key: 'broken', most: 1 }
  const count: typeof attempts.count = async (limit) => {
    if (limit === broken) throw new ServiceError('unavailable')
    return attempts.count(limit)
  }
  const failing = countedAttempt({ ...attempts, count }, [counted, broken], fail)
  await expect(failing).rejects.toMatchObject({ code: 100503 })
  await expect(countedAttempt(attempts, [counted], fail)).rejects.toMatchObject({ code: 101001 })
})

const openService = async (url = 'https://us.example.com', insecureSignIn = false) => {
  const { sites, grants, people, attempts } = hand.stores
  await sites.putDataCentre({ id: 'us', url, isDefault: true })
  const records: SignInRecord[] = []
  const reads: string[] = []
  const noted =
    <Given extends readonly unknown[], Result>(name: string, get: (...given: Given) => Result) =>
    (...given: Given): Result => {
      reads.push(name)
      return get(...given)
    }
  const counted = {
    ...hand.stores,
    sites,
    attempts,
    grants: { ...grants, get: noted('token', grants.get) },
    people: { ...people, get: noted('person', people.get) },
  }
  const telemetry = { request: () => {}, signIn: (record: SignInRecord) => void records.push(record) }
  const handler = openHandler.access({ dataCentre: 'us' }, counted, { telemetry, insecureSignIn })
  const signIn = async (address: string | undefined, body: object = { username: 'ANN', password }) => {
    const request = requestOf('POST', tokens, { body })
    const answer = await answerTo(handler, { ...request, ...(address !== undefined && { address }) })
    return answerOf(answer.status, answer.headers, await textOf(answer))
  }
  return { handler, signIn, records, reads }
}

test('A password is hashed again only if the parameters of its hash are old (A-55)', async () => {
  const { signIn } = await openService()
  await weaken('ann')
  const stored = async () => (await hand.stores.people.get('ann'))?.password
  const before = await stored()
  expect((await signIn('192.0.2.1')).status).toBe(200)
  const after = await stored()
  expect(after).not.toBe(before)
  expect(after).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  expect((await signIn('192.0.2.1')).status).toBe(200)
  expect(await stored()).toBe(after)
})

test.each<[string, string | undefined, string, boolean, number]>([
  ['http from another machine', '192.0.2.1', 'http://us.example.com', false, 401],
  ['http from an unknown address', undefined, 'http://us.example.com', false, 401],
  ['http from another machine, at an address of this one', '2001:db8::1', 'http://127.0.0.1:4000', false, 401],
  ['http from this machine', '127.0.0.1', 'http://us.example.com', false, 200],
  ['http from this machine in IPv6', '::1', 'http://us.example.com', false, 200],
  ['http to an address of this machine', undefined, 'http://localhost:4000', false, 200],
  ['https', '192.0.2.1', 'https://us.example.com', false, 200],
  ['http with the flag', '192.0.2.1', 'http://us.example.com', true, 200],
])('A password over %s is accepted, or refused with a reason (A-74)', async (_, address, url, flag, status) => {
  const { signIn } = await openService(url, flag)
  const answer = await signIn(address)
  expect(answer.status).toBe(status)
  if (status === 401) {
    expect(statusAndCode(answer)).toEqual([401, 101001])
    expect(answer.json.message).toContain('The service accepts passwords only over https')
  }
})

test('The log shows known names, addresses and outcomes, but no typed text (A-75)', async () => {
  const { signIn, records } = await openService()
  await signIn('192.0.2.1')
  await signIn('192.0.2.2', { username: 'ann', password: 'typed password' })
  await signIn(undefined, { username: password, password: 'typed name' })
  await signIn('192.0.2.1', { username: 'ann' })
  expect(records).toEqual([
    { name: 'ann', address: '192.0.2.1', outcome: 'signed in' },
    { name: 'ann', address: '192.0.2.2', outcome: 'refused' },
    { name: null, address: null, outcome: 'refused' },
  ])
})

test('The log shows who accepts an invitation (A-75, A-83)', async () => {
  const { handler, records } = await openService()
  const { person, invitation } = invite(testPerson({ name: 'dora' }), Date.now())
  await hand.stores.people.create(person, [])
  const body = { invitation: invitation.text, password }
  expect((await send(handler, 'POST', '/api/v2/admin/invitations', { body })).status).toBe(200)
  expect(records).toEqual([{ name: 'dora', address: null, outcome: 'signed in' }])
})

test('The first request with a token reads token and person, later ones none (A-62)', async () => {
  const { handler, signIn, reads } = await openService()
  const { token } = (await signIn('192.0.2.1')).json
  reads.length = 0
  const ask = () => send(handler, 'GET', '/api/v2/admin/me', { headers: { Authorization: token } })
  expect((await ask()).status).toBe(200)
  expect(reads).toEqual(['token', 'person'])
  for (let time = 0; time < 3; time++) await ask()
  expect(reads).toEqual(['token', 'person'])
})

test('After 50 failures from one address, even the right password is refused (A-76)', async () => {
  const { signIn } = await openService()
  // Their hashes take little time. Five failures are of the same person.
  const names = Array.from({ length: 10 }, (_, index) => `carl${index}`)
  for (const name of names) await hand.stores.people.create(testPerson({ name, password: weakHash() }), [])
  const wrong = (index: number) =>
    signIn('2001:db8:1:2::1', { username: index === 0 ? 'unknown' : names[index % names.length], password: 'wrong' })
  for (let index = 0; index < 50; index++) expect((await wrong(index)).status).toBe(401)
  expect((await signIn('2001:db8:1:2::ffff')).status).toBe(429)
  expect((await signIn('2001:db8:1:3::1')).status).toBe(200)
})

test('Failures at other addresses do not lock out a person at a known address (A-77)', async () => {
  await hand.stores.people.create(testPerson({ name: 'bob', password: weakHash() }), [])
  const { signIn } = await openService()
  const own = { username: 'bob', password }
  expect((await signIn('198.51.100.1', own)).status).toBe(200)
  await weaken('bob')
  const statuses = []
  for (let index = 0; index < 26; index++) {
    statuses.push((await signIn(`203.0.113.${index}`, { ...own, password: 'wrong' })).status)
  }
  expect(statuses).toEqual([...Array.from({ length: 25 }, () => 401), 429])
  expect((await signIn('203.0.113.200', own)).status).toBe(429)
  expect((await signIn('198.51.100.1', own)).status).toBe(200)
})

/** Empty tables until the end of the test, with the dependencies of a sign-in. */
const openTables = async ({ open }: Hand) => {
  const { stores, close } = await open()
  onTestFinished(close)
  return { ...stores, clock: { wall: Date.now }, findSite: async () => undefined }
}

const ofAnn = { username: 'ann', password, address: undefined }

/** A session of Ann on empty tables. */
const openSession = async (hand: Hand) => {
  const tables = await openTables(hand)
  const ann = testPerson({ password: weakHash() })
  await tables.people.create(ann, [])
  const hash = hashToken(await beginSession(tables, ann))
  return { ...tables, hash, session: (await tables.grants.get(hash)) as Grant }
}

test('A password change with a wrong old password says so (A-73)', async () => {
  const { session, ...deps } = await openSession(oneMachine)
  const changing = changePassword(deps, session, { ...ofAnn, password: 'wrong horse battery' }, 'another long one')
  const message = 'The old password is wrong. Send your present password as oldPassword.'
  await expect(changing).rejects.toMatchObject({ code: 101001, message })
})

test('A password change that another change overtakes gets 503 (A-73, E-16)', async () => {
  const { session, people, ...tables } = await openSession(oneMachine)
  const deps = { ...tables, people: { ...people, replace: async () => false } }
  const changing = changePassword(deps, session, ofAnn, 'another long one')
  await expect(changing).rejects.toMatchObject({ code: 100503 })
})

test.each(hands)('A session that ends during a password change stays ended: $name (A-70, A-73)', async (hand) => {
  const tables = await openSession(hand)
  const { grants, hash, people, session } = tables
  const replace: typeof people.replace = async (...change) => {
    await grants.remove(hash, [])
    return people.replace(...change)
  }
  const deps = { ...tables, people: { ...people, replace } }
  await changePassword(deps, session, ofAnn, 'another long one')
  expect(await grants.get(hash)).toBeUndefined()
})

test.each(hands)('A session works at each moment of its password change: $name (A-73)', async (hand) => {
  const tables = await openSession(hand)
  const { grants, hash, people, session } = tables
  const callers: (Caller | undefined)[] = []
  const replace: typeof people.replace = async (...change) => {
    const outcome = await people.replace(...change)
    callers.push(await findCaller(grants, people, hash))
    return outcome
  }
  const deps = { ...tables, people: { ...people, replace } }
  await changePassword(deps, session, ofAnn, 'another long one')
  await endSessions(deps, 'ann')
  const late = changePassword(deps, session, { ...ofAnn, password: 'another long one' }, password)
  await expect(late).rejects.toMatchObject({ code: 101000 })
  expect(callers).toEqual([
    expect.objectContaining({ user: 'ann' }),
    expect.objectContaining({ user: 'ann' }),
    undefined,
  ])
})

test.each(hands)('A token for one site follows the newest password: $name (A-68, A-73)', async (hand) => {
  const stores = await openTables(hand)
  await stores.people.create(testPerson({ password: weakHash() }), [])
  await stores.sites.putDataCentre({ id: 'us', url: 'https://us.example.com', isDefault: true })
  await stores.sites.createSite(shop, entry)
  const openFunction = () => {
    const telemetry = { request: () => {} }
    const handler = openHandler.access({ dataCentre: 'us' }, stores, { telemetry })
    return (method: string, path: string, Authorization = '', request: Parameters<typeof send>[3] = {}) =>
      send(handler, method, `/api/v2/admin/${path}`, { headers: { Authorization }, ...request })
  }
  const [one, other] = [openFunction(), openFunction()]
  const { token } = (await one('POST', 'tokens', '', { body: { username: 'ann', password } })).json
  expect((await other('GET', 'me', token)).status).toBe(200)
  const body = { password: 'another long one', oldPassword: password }
  expect((await one('PUT', 'me', token, { body })).status).toBe(200)
  const ofSite = await other('POST', 'sites/1001/tokens', token)
  expect((await one('GET', 'me', ofSite.json.token)).status).toBe(200)
  expect((await one('DELETE', 'tokens', token, { query: { all: '' } })).status).toBe(200)
  expect(statusAndCode(await other('POST', 'sites/1001/tokens', token))).toEqual([401, 101000])
})

test.each(hands)('An invitation works beside another change of the person: $name (A-82)', async (hand) => {
  const tables = await openTables(hand)
  const { people } = tables
  const { person, invitation } = invite(testPerson(), Date.now())
  await people.create(person, [])
  const rename = () => updatePerson(people, 'ann', (before) => ({ after: { ...before, displayName: 'A.' } }))
  const replace = vi.fn(people.replace).mockImplementationOnce(async (...change) => {
    await rename()
    return people.replace(...change)
  })
  const deps = { ...tables, people: { ...people, replace } }
  const accept = () => acceptInvitation(deps, invitation.text, { password, address: undefined })
  expect(await accept()).toMatchObject({ name: 'ann' })
  expect(await people.get('ann')).toMatchObject({ displayName: 'A.', password: expect.any(String) })
  await expect(accept()).rejects.toMatchObject({ code: 101003 })
})

test.each(hands)('An invitation still works after an acceptance that got 503: $name (A-83, E-16)', async (hand) => {
  const tables = await openTables(hand)
  const { grants, people, sites } = tables
  const { person, invitation } = invite(testPerson(), Date.now())
  await people.create(person, [])
  await sites.putDataCentre({ id: 'us', url: 'https://us.example.com', isDefault: true })
  const put = vi.fn(grants.put).mockRejectedValueOnce(new ServiceError('unavailable'))
  const stores = { ...tables, grants: { ...grants, put } }
  const handler = openHandler.access({ dataCentre: 'us' }, stores, { telemetry: { request: () => {} } })
  const body = { invitation: invitation.text, password }
  const accept = async () => (await send(handler, 'POST', '/api/v2/admin/invitations', { body })).status
  expect([await accept(), await accept(), await accept()]).toEqual([503, 200, 404])
})

test.each(hands)('Several processes or functions count failed sign-ins together: $name (A-76)', async ({ open }) => {
  const now = Date.now()
  const { stores, connect, close } = await open({ wall: () => now, monotonic: () => now })
  const counters = [stores.attempts, connect().attempts, connect().attempts]
  const limit = { key: 'several', most: 5 }
  const counted = await Promise.all(Array.from({ length: 99 }, (_, index) => counters[index % 3]?.count(limit)))
  const later = []
  for (const { count } of counters) for (let time = 0; time < 5; time++) later.push(await count(limit))
  expect([...counted, ...later].filter((wait) => wait === 0)).toHaveLength(5)
  await close()
})

test.each(hands)('A sign-in that gets 503 does not count as failed: $name (A-76, E-16)', async (hand) => {
  const deps = await openTables(hand)
  const { attempts, people } = deps
  const [own, others] = [weakHash(), weakHash()]
  await people.create(testPerson({ password: own }), [])
  let busy: Promise<boolean>[] = []
  const count: typeof attempts.count = async (limit) => {
    const wait = await attempts.count(limit)
    // The limit of the name is the last one.
    if (limit.most === 25) busy = Array.from({ length: 52 }, () => matchesPassword(password, others))
    return wait
  }
  const credentials = { username: 'ann', password, address: '192.0.2.1' }
  const person = await people.get('ann')
  for (let attempt = 0; attempt < 5; attempt++) {
    const refused = authenticatePerson({ ...deps, attempts: { ...attempts, count } }, credentials, person)
    await expect(refused).rejects.toMatchObject({ code: 100503 })
    await Promise.all(busy)
  }
  expect(await authenticatePerson(deps, credentials, person)).toMatchObject({ name: 'ann' })
})

test('Two sign-ins compute hashes, 50 wait, and all others get 503 (A-66, E-16)', async () => {
  const stored = [...Array.from({ length: 52 }, weakHash), weakHash(), undefined]
  const outcomes = await Promise.allSettled(stored.map((hash) => matchesPassword(password, hash)))
  const failures = outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.code)
  expect(failures).toEqual([...Array.from({ length: 52 }, () => false), 100503, 100503])
  expect(await matchesPassword(password, weakHash())).toBe(true)
  expect(await matchesPassword(password, undefined)).toBe(false)
})
