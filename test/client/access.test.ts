import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type ConnectOptions, connect, signIn } from '../../client/src/index.ts'
import { administerJson } from '../support/administration.ts'
import { phrase } from '../support/messages.ts'
import { test as base, outcome, siteFiles } from './support/command.ts'
import { all } from './support/site.ts'

const password = ' correct horse battery '
const patience = { delay: 1 }

/** A service whose site has an owner with a password, and can get more owners. */
const test = base.extend('owned', { scope: 'file' }, async ({ service }) => {
  const addOwner = async (username: string) => {
    const flags = ['--site', '1001', '--role', 'owner', '--password-stdin']
    await administerJson(service.directory, ['user', 'add', username, ...flags], `${password}\n`)
    return { url: service.baseUrl, username, password, patience }
  }
  return { baseUrl: service.baseUrl, addOwner, login: await addOwner('ann') }
})

test('connect takes name and password, and uses the site of the person (T-31, T-32)', async ({ owned }) => {
  const wrong = connect({ ...owned.login, password: 'wrong horse battery' })
  await expect(wrong).rejects.toMatchObject({ status: 401, code: 101001 })
  const client = await connect({ ...owned.login, tokenExpiryPeriod: 'short' })
  await client.files.put('a.txt', 'a')
  expect((await client.files.stat('a.txt')).size).toBe(1)
  const me = await client.access.me()
  expect(me).toMatchObject({ name: 'ann', kind: 'session', sites: [{ id: 1001, role: 'owner' }] })
  const hours = (Date.parse(me.expires) - Date.now()) / 3_600_000
  expect(Math.round(hours)).toBe(4)
})

test('the library creates, lists and revokes keys, which stop at once (T-31, A-13)', async ({ owned }) => {
  const { access } = await connect(owned.login)
  const { id, key } = await access.keys.create({ name: 'Robot', rights: ['files:read'] })
  const { id: other } = await access.keys.create({ name: 'Zoe', rights: ['files:read'] })
  const inPages: typeof fetch = (input, init) => fetch(String(input).replace(/\/keys(?:\?|$)/, '/keys?limit=1&'), init)
  const paged = await connect({ ...owned.login, fetch: inPages })
  expect(await all(paged.access.keys.list())).toMatchObject([{ id, name: 'Robot', user: 'ann' }, { id: other }])
  await access.keys.revoke(other)
  const robot = await connect({ url: owned.baseUrl, token: key, patience })
  expect(await all(robot.files.list())).not.toEqual([])
  await access.keys.revoke(id)
  await expect(all(robot.files.list())).rejects.toMatchObject({ status: 401 })
  expect(await all(access.keys.list())).toEqual([])
})

test('a token for one site stops at once when its session ends (A-13, A-68)', async ({ owned }) => {
  const ask = (method: string, path: string, token: string) =>
    fetch(new URL(`/api/v2/admin/${path}`, owned.baseUrl), { method, headers: { Authorization: token } })
  const session = await signIn(owned.login)
  const answer = await ask('POST', 'sites/current/tokens', session)
  const { token } = (await answer.json()) as { token: string }
  expect((await ask('GET', 'sites/current/storage?meta', token)).status).toBe(200)
  expect((await ask('DELETE', 'tokens', session)).status).toBe(200)
  expect((await ask('GET', 'sites/current/storage?meta', token)).status).toBe(401)
})

test('login --user asks for a password, and saves only the token (T-39, A-107)', async ({ owned, makeDirectory }) => {
  const config = await makeDirectory()
  const environment = { XDG_CONFIG_HOME: config }
  const login = (typed: string) =>
    siteFiles(['--url', owned.baseUrl, 'login', '--user', 'ann'], environment, `${typed}\n`)
  const { status, stderr } = await login('wrong horse battery')
  expect([status, stderr]).toEqual([1, expect.stringMatching(phrase`Check the name and the password. (request …)$`)])
  expect(await siteFiles(['ls'], environment)).toMatchObject(outcome(2, 'Name the service with'))
  expect(await login(password)).toMatchObject(outcome(0, 'Demo site'))
  const file = join(config, 'site-files', 'login.json')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(file, 'utf8')).not.toContain(password.trim())
  expect((await siteFiles(['ls'], environment)).status).toBe(0)
})

/** Opens clients whose connection ends after the service has carried out the first change that follows `loseNext`. */
const lossy = test.extend('open', ({ proxied }) => async (login: ConnectOptions) => {
  let isArmed = false
  const url = await proxied((method) => {
    const isLost = isArmed && method !== 'GET'
    isArmed &&= !isLost
    return isLost ? 'cut after' : 'pass'
  })
  const loseNext = () => {
    isArmed = true
  }
  return { ...(await connect({ ...login, url })), loseNext }
})

lossy('a removal whose answer was lost succeeds if nothing is there any more (T-35)', async ({ owned, open }) => {
  const { access, files, webhooks, loseNext } = await open(owned.login)
  await files.put('lost.txt', '1')
  await files.remove('lost.txt')
  const key = await access.keys.create({ name: 'Lost', rights: ['files:read'] })
  const webhook = await webhooks.create({ targetUrl: 'https://example.com/hooks', enabled: false })
  await access.people.add({ name: 'lost', role: 'author', folders: ['/news'] })
  for (const remove of [
    () => access.keys.revoke(key.id),
    () => webhooks.remove(webhook.id),
    () => access.people.remove('lost'),
    () => files.purge('lost.txt'),
  ]) {
    loseNext()
    await remove()
    await expect(remove()).rejects.toMatchObject({ status: 404 })
  }
})

lossy('a change of case whose answer was lost succeeds if it was made (T-35)', async ({ owned, open }) => {
  const { files, loseNext } = await open(owned.login)
  await files.put('moved/a.txt', 'a')
  loseNext()
  await files.move('moved/a.txt', 'moved/A.txt')
  expect(await all(files.listAll('moved'))).toMatchObject([{ path: 'A.txt' }])
})

lossy('a sign-out whose answer was lost succeeds if the session has ended (T-35)', async ({ owned, open }) => {
  for (const options of [{}, { all: true }] as const) {
    const { access, loseNext } = await open(await owned.addOwner(`out-${Object.keys(options)}`))
    loseNext()
    await access.signOut(options)
    await expect(access.me()).rejects.toMatchObject({ status: 401 })
  }
})

lossy('a change of the password whose answer was lost is not repeated (T-35)', async ({ owned, open }) => {
  const login = await owned.addOwner('dora')
  const { access, loseNext } = await open(login)
  loseNext()
  const change = access.changePassword({ oldPassword: password, password: 'another horse battery' })
  await expect(change).rejects.toMatchObject({ status: 0, message: expect.stringContaining('unless the change') })
  await expect(signIn({ ...login, password: 'another horse battery' })).resolves.toMatch(/^[0-9a-f]{64}$/)
})

lossy('a change of a webhook whose answer was lost is not repeated (T-35, V-5)', async ({ owned, open }) => {
  const { webhooks, changes, loseNext } = await open(owned.login)
  const { id } = await webhooks.create({ targetUrl: 'https://example.com/rotated', enabled: false })
  loseNext()
  await expect(webhooks.change(id, { rotate: true })).rejects.toMatchObject({ status: 0 })
  const made = await changes.newest(500, { types: ['webhook.changed'], subject: `webhook/${id}` })
  expect(made).toHaveLength(1)
})
