import { expect } from 'vitest'
import { commandsOn } from '../../support/administration.ts'
import { test } from '../../support/test.ts'

const password = 'correct horse battery'
const add = (name: string, options: string) => `user add ${name} --site 1001 ${options}`
const addOther = 'site create --name Other'

test('user add gives a person a role on several sites, with one invitation (A-102)', async ({ commands: { run } }) => {
  await run(addOther)
  const invitation = expect.stringContaining('#invitation=ann.')
  expect(await run(add('ann', '--site 1002 --role owner'))).toMatchObject({ name: 'ann', invitation })
  const sites = [1001, 1002].map((site) => ({ site, role: 'owner' }))
  expect(await run('user show ann')).toMatchObject({ sites })
})

test('user add finds a person in any upper or lower case (A-52, A-102)', async ({ commands: { run } }) => {
  await run(addOther)
  await run(add('ann', '--role owner'))
  expect(await run('user add Ann --site 1002 --role viewer')).toEqual({ name: 'ann' })
})

test('user add for a site that the person has names user change', async ({ commands: { run, attempt } }) => {
  await run(add('ann', '--role owner'))
  const { stderr } = await attempt(add('ann', '--role viewer'))
  expect(stderr).toContain('ann already exists. Change rights, --email and --display-name with "user change ann".')
})

test('user add with a weak password adds nobody (A-54)', async ({ commands: { run, attempt } }) => {
  for (const weak of ['', 'short', 'ann has a horse', 'the shop has a horse']) {
    expect((await attempt(add('ann', '--role owner --password-stdin'), `${weak}\n`)).status).toBe(1)
  }
  expect(await run('user list --site 1001')).toEqual([])
})

test.for([
  [
    'changes no role if the password is weak (A-54, A-101)',
    'change ann --site 1001 --role viewer --password-stdin',
    'the shop has a horse',
  ],
  ['adds no site if the person has another of the sites (A-102)', 'add ann --site 1002 --site 1001 --role viewer', ''],
  ['adds no site if it sets no address (A-102)', 'add ann --site 1002 --role viewer --email ann@example.com', ''],
  ['adds no site if it sets no password (A-102)', 'add ann --site 1002 --role viewer --password-stdin', password],
] as const)('a refused user command %s', async ([, line, typed], { commands: { run, attempt } }) => {
  await run(addOther)
  for (const name of ['ann', 'bob']) await run(add(name, '--role owner'))
  const before = await run('user show ann')
  expect((await attempt(`user ${line}`, typed)).status).toBe(1)
  expect(await run('user show ann')).toEqual(before)
})

test('user remove --site removes a person from the last site (A-60, A-101)', async ({ commands: { run, attempt } }) => {
  await run(addOther)
  await run(add('bob', '--site 1002 --role viewer'))
  await run('user remove bob --site 1001 --yes')
  const lists = [await run('user list --site 1001'), await run('user list --site 1002')]
  expect(lists).toMatchObject([[], [{ name: 'bob' }]])
  const { stderr } = await attempt('user remove bob --site 1001')
  expect(stderr).toContain('"user list --site 1001" lists its people.')
  await run('user remove bob --site 1002 --yes')
  expect((await attempt('user show bob')).status).toBe(1)
})

test('user remove --site leaves a site where the person has no rights (A-60, A-101)', async ({ host, directory }) => {
  const { request } = await host()
  const { run } = commandsOn(directory)
  await run(addOther)
  await run(add('bob', '--site 1002 --role viewer'))
  const { token } = await run('token issue --user ann --site 1002 --right access:write')
  const withdrawal = { method: 'PUT', headers: { Authorization: token }, body: JSON.stringify({ rights: [] }) }
  expect((await request('/api/v2/admin/sites/1002/users/bob', withdrawal)).status).toBe(200)
  await run('user remove bob --site 1001 --yes')
  expect(await run('user show bob')).toMatchObject({ sites: [{ site: 1002, rights: [] }] })
})

test('user remove without --yes says what ends, and removes nobody (T-17)', async ({ commands: { run, attempt } }) => {
  await run(addOther)
  await run(add('bob', '--site 1002 --role viewer'))
  await run('key create --site 1001 --user bob --name Robot --right files:read')
  for (const [line, ended] of [
    ['user remove bob', '1 key and all sessions'],
    ['user remove bob --site 1002', '0 keys'],
  ] as const) {
    const stderr = expect.stringContaining(`also ends ${ended}. Nothing was removed`)
    expect(await attempt(line)).toMatchObject({ status: 1, stderr })
  }
  expect(await run('user list --site 1001')).toMatchObject([{ name: 'bob' }])
})

test('user remove refuses the last owner in a preview too (A-58, T-17)', async ({ commands: { run, attempt } }) => {
  await run(add('ann', '--role owner'))
  for (const flags of ['', ' --dry-run', ' --site 1001 --dry-run', ' --yes']) {
    const { status, stderr } = await attempt(`--json user remove ann${flags}`)
    const message = expect.stringContaining(
      'ann is the last owner of site 1001. Give another person the role owner first.',
    )
    expect([status, JSON.parse(stderr)]).toMatchObject([1, { code: 101012, message }])
  }
  await run(add('bob', '--role owner'))
  expect(await run('user remove ann --dry-run')).toMatchObject({ keys: 0 })
})

test('user add and change set a password without an invitation (A-101, A-102, A-109)', async ({ host, directory }) => {
  const { request } = await host()
  const { run } = commandsOn(directory)
  expect(await run(add('ann', '--role owner --password-stdin'), password)).toEqual({ name: 'ann' })
  const signIn = (own: string) =>
    request('/api/v2/admin/tokens', { method: 'POST', body: JSON.stringify({ username: 'ann', password: own }) })
  const { token }: { token: string } = JSON.parse(await (await signIn(password)).text())
  await run('user change ann --password-stdin', 'another horse battery')
  expect([(await signIn(password)).status, (await signIn('another horse battery')).status]).toEqual([401, 200])
  expect((await request('/api/v2/admin/me', { headers: { Authorization: token } })).status).toBe(401)
  expect(await run('audit --site 1001 --type user.changed')).toMatchObject([{ subject: 'user/ann' }])
})
