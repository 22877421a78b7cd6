import { describe, expect } from 'vitest'
import { administer, administerJson } from '../../support/administration.ts'
import { messages } from '../../support/messages.ts'
import { test } from '../../support/test.ts'

const words = (line: string): string[] => line.split(' ').filter(Boolean)
const userAdd = (name: string, line: string): string[] => ['user', 'add', name, '--site', '1001', ...words(line)]
const password = 'correct horse battery'

const namesIn = async (directory: string, site = 1001): Promise<string[]> =>
  (await administerJson(directory, ['user', 'list', '--site', String(site)])).map(({ name }: { name: string }) => name)

describe('user add', () => {
  test('user add gives a person one role on several sites, with one invitation (A-102)', async ({ siteDirectory }) => {
    await administerJson(siteDirectory, ['site', 'create', '--name', 'Other'])
    const added = await administerJson(siteDirectory, userAdd('ann', '--site 1002 --role owner'))
    expect(added).toEqual({
      name: 'ann',
      invitation: expect.stringContaining('#invitation=ann.'),
      expires: expect.any(String),
    })
    expect(await administerJson(siteDirectory, ['user', 'show', 'ann'])).toMatchObject({
      sites: [
        { site: 1001, role: 'owner' },
        { site: 1002, role: 'owner' },
      ],
    })
  })

  test('user add with a weak password adds nobody (A-54)', async ({ siteDirectory }) => {
    const flags = userAdd('ann', '--role owner --password-stdin')
    for (const weak of ['', 'short', 'ann has a horse', 'the shop has a horse']) {
      expect((await administer(siteDirectory, flags, `${weak}\n`)).status).toBe(1)
    }
    expect(await namesIn(siteDirectory)).toEqual([])
  })
})

describe('a refused user command', () => {
  const refused = {
    'changes no role if the password is weak (A-54, A-101)': 'change ann --site 1001 --role viewer --password-stdin',
    'adds no site if the person has another of the sites (A-102)': 'add ann --site 1002 --site 1001 --role viewer',
    'adds no site if it cannot set the password (A-102)': 'add ann --site 1002 --role viewer --password-stdin',
  }
  test.for(Object.entries(refused))('a refused user command %s', async ([, line], { siteDirectory }) => {
    await administerJson(siteDirectory, ['site', 'create', '--name', 'Other'])
    await administerJson(siteDirectory, userAdd('ann', '--role owner'))
    await administerJson(siteDirectory, userAdd('bob', '--role owner'))
    const show = () => administerJson(siteDirectory, ['user', 'show', 'ann'])
    const before = await show()
    const typed = line.startsWith('change') ? 'the shop has a horse' : password
    expect((await administer(siteDirectory, ['user', ...words(line)], typed)).status).toBe(1)
    expect(await show()).toEqual(before)
  })
})

describe('user remove', () => {
  test('user remove --site removes the person if this was the last site (A-60, A-101)', async ({ siteDirectory }) => {
    await administerJson(siteDirectory, ['site', 'create', '--name', 'Other'])
    await administerJson(siteDirectory, userAdd('bob', '--site 1002 --role viewer'))
    const removeFrom = (site: string) =>
      administerJson(siteDirectory, ['user', 'remove', 'bob', '--site', site, '--yes'])
    await removeFrom('1001')
    expect([await namesIn(siteDirectory), await namesIn(siteDirectory, 1002)]).toEqual([[], ['bob']])
    await removeFrom('1002')
    expect((await administer(siteDirectory, ['user', 'show', 'bob'])).status).toBe(1)
  })

  test('user remove without --yes counts the keys, and removes nobody (T-17)', async ({ siteDirectory }) => {
    await administerJson(siteDirectory, userAdd('bob', '--role viewer'))
    const key = ['key', 'create', '--site', '1001', '--user', 'bob', '--name', 'Robot', '--right', 'files:read']
    await administerJson(siteDirectory, key)
    const { status, stderr } = await administer(siteDirectory, ['user', 'remove', 'bob'])
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(messages.user.removal(1)) })
    expect(await namesIn(siteDirectory)).toEqual(['bob'])
  })

  test('user remove refuses the last owner in a preview too (A-58, T-17)', async ({ siteDirectory }) => {
    await administerJson(siteDirectory, userAdd('ann', '--role owner'))
    for (const flags of [[], ['--dry-run'], ['--site', '1001', '--dry-run'], ['--yes']]) {
      const { status, stderr } = await administer(siteDirectory, ['--json', 'user', 'remove', 'ann', ...flags])
      expect([status, JSON.parse(stderr).code]).toEqual([1, 101012])
    }
    await administerJson(siteDirectory, userAdd('bob', '--role owner'))
    expect(await administerJson(siteDirectory, ['user', 'remove', 'ann', '--dry-run'])).toMatchObject({ keys: 0 })
  })
})

test('user add and change set a password without an invitation (A-83, A-101, A-102)', async ({ host, directory }) => {
  const { request } = await host()
  const added = await administerJson(directory, userAdd('ann', '--role owner --password-stdin'), password)
  expect(added).toEqual({ name: 'ann' })
  const signIn = (own: string) =>
    request('/api/v2/admin/tokens', { method: 'POST', body: JSON.stringify({ username: 'ann', password: own }) })
  const signedIn = await signIn(password)
  expect(signedIn.status).toBe(200)
  const { token }: { token: string } = JSON.parse(await signedIn.text())
  await administerJson(directory, ['user', 'change', 'ann', '--password-stdin'], 'another horse battery')
  expect([(await signIn(password)).status, (await signIn('another horse battery')).status]).toEqual([401, 200])
  expect((await request('/api/v2/admin/me', { headers: { Authorization: token } })).status).toBe(401)
})
