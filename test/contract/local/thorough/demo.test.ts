import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { administer, administerJson } from '../../../support/administration.ts'
import { tamper } from '../../../support/backups.ts'
import { messages, phrase } from '../../../support/messages.ts'
import { failing, faultAt, foundBy } from '../../../support/outcomes.ts'
import { fields, news, storage } from '../../../support/paths.ts'
import { noOtherUser, otherUser, runAsOther } from '../../../support/program.ts'
import { test as base } from '../../../support/test.ts'

/** The directory of a demo, with its token. `demo` is the content of demo.json. */
const test = base.extend('used', ({ demoDirectory: directory }) => {
  const file = join(directory, 'demo.json')
  const demo: { readonly token: string; readonly state: string } = JSON.parse(readFileSync(file, 'utf8'))
  return { directory, file, token: demo.token, demo }
})

const removeSite = async (directory: string) => {
  expect(await administer(directory, ['site', 'remove', '1001', '--yes'])).toMatchObject({ status: 0 })
}

const tokensOf = (directory: string) => administerJson(directory, ['token', 'list'])

test('the demo token is the same at each start and port (O-7)', async ({ used: { token, directory, file }, start }) => {
  const before = readFileSync(file)
  const service = await start()
  expect(service.token).toBe(token)
  for (const path of [fields, news, `${storage}?meta`]) expect((await service.request(path)).status).toBe(200)
  const uri = expect.stringMatching(new RegExp(`^${service.baseUrl}/`))
  expect(await (await service.request(`${fields}/-2`)).json()).toMatchObject({ links: [{ rel: 'self', uri }] })
  expect(readFileSync(file)).toEqual(before)
  expect(await tokensOf(directory)).toHaveLength(1)
})

test('a revoked demo token is replaced at the next start', async ({ used: { directory, token, file }, start }) => {
  expect(await administer(directory, ['token', 'revoke', token])).toMatchObject({ status: 0 })
  const service = await start()
  expect(service.token).not.toBe(token)
  expect((await service.request(fields)).status).toBe(200)
  expect((await service.request(fields, { headers: { Authorization: token } })).status).toBe(401)
  const { stderr } = await service.stop()
  expect(stderr).toMatch(phrase`^The demo token was revoked or has expired. A new one replaces it.`)
  expect(readFileSync(file, 'utf8')).toContain(service.token)
})

test('a demo token of an earlier version still works', async ({ used: { demo, token, file }, start }) => {
  const { state: _, ...earlier } = demo
  writeFileSync(file, JSON.stringify(earlier))
  expect((await start()).token).toBe(token)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(demo)
})

test.skipIf(noOtherUser !== undefined)(
  'if the demo file has wrong rights, check does not advise to remove it',
  async ({ used: { directory, file } }) => {
    execFileSync('chown', ['-R', `${otherUser}:${otherUser}`, directory])
    execFileSync('chown', ['root:root', file])
    const found = foundBy(await runAsOther('admin/main.js', ['--json', '--data-dir', directory, 'check']))
    expect(found).toEqual({ status: 1, faults: [faultAt(file, messages.check.onlyRights)] })
  },
)

test('A removed demo site stays removed, and --json does not mention it', async ({ used, start }) => {
  const { directory } = used
  await removeSite(directory)
  for (let restart = 0; restart < 2; restart += 1) {
    const service = await start()
    expect(JSON.parse(service.line)).toEqual({ baseUrl: service.baseUrl, dataCentres: service.dataCentres })
    await service.stop()
  }
  expect(await administerJson(directory, ['site', 'list'])).toEqual([])
  expect(await tokensOf(directory)).toEqual([])
})

test.skipIf(noOtherUser !== undefined)(
  'After root removed the demo site, the directory still belongs to its owner',
  async ({ used: { directory } }) => {
    execFileSync('chown', ['-R', `${otherUser}:${otherUser}`, directory])
    await removeSite(directory)
    expect(await runAsOther('admin/main.js', ['--data-dir', directory, 'check'])).toMatchObject({ status: 0 })
  },
)

test.for([
  ['this version', (demo: object) => ({ ...demo, state: 'removed' })],
  ['an earlier version', ({ state: _, ...earlier }: { state?: string }) => earlier],
] as const)(
  'a site 1001 gets no token after %s has removed the demo site',
  async ([, stateOf], { used: { directory, demo, file }, start }) => {
    await removeSite(directory)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ state: 'removed' })
    await administerJson(directory, ['site', 'create', '--name', 'Shop', '--id', '1001'])
    writeFileSync(file, JSON.stringify(stateOf(demo)))
    expect(JSON.parse((await start()).line)).not.toHaveProperty('token')
    expect(await tokensOf(directory)).toEqual([])
  },
)

test('An incomplete demo site keeps its id, and the next start completes it', async ({ used, start }) => {
  const { directory, demo, file, token } = used
  tamper(directory, 'DELETE FROM sites')
  writeFileSync(file, JSON.stringify({ ...demo, state: 'begun' }))
  const create = (...id: string[]) => administer(directory, ['site', 'create', '--name', 'Shop', ...id])
  const refused = phrase`^The id 1001 belongs to the demo site, which is incomplete. Choose another id with --id, or …$`
  expect(await create('--id', '1001')).toMatchObject(failing(refused))
  expect(await create()).toMatchObject({ status: 0 })
  expect((await start()).token).toBe(token)
  expect(await administerJson(directory, ['site', 'list'])).toMatchObject([{ name: 'Demo site' }, { name: 'Shop' }])
})

test.for([
  ['a site 1001 gets no token in a directory that never had a demo', async () => {}],
  ['a removed site 1001 gets no token either, because a demo could restore its files', removeSite],
] as const)('%s', async ([, prepare], { siteDirectory, start }) => {
  await prepare(siteDirectory)
  expect(JSON.parse((await start()).line)).not.toHaveProperty('token')
  expect(await tokensOf(siteDirectory)).toEqual([])
})

test('if the demo file is missing, no token is issued, and the old token stays valid', async ({ used, start }) => {
  const { directory, file, token } = used
  rmSync(file)
  const service = await start()
  expect(JSON.parse(service.line)).not.toHaveProperty('token')
  expect((await service.request(fields, { headers: { Authorization: token } })).status).toBe(200)
  expect(await tokensOf(directory)).toHaveLength(1)
})
