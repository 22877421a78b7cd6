import { describe, expect } from 'vitest'
import { administer, administerJson, refusedIn } from '../../support/administration.ts'
import { test } from '../../support/test.ts'

const url = 'https://login.example.com/'
const add = ['issuer', 'add', url, '--id', 'work', '--audience', 'site-admin']
const rule = ['rule', 'add', '--issuer', 'work', '--claim', 'groups=web=1', '--site', '1001']

describe('the commands issuer and rule', () => {
  test('issuer add keeps the URL as it was given, and prints the issuer (A-111, A-104)', async ({ siteDirectory }) => {
    const issuer = { id: 'work', url, audience: 'site-admin' }
    expect(await administerJson(siteDirectory, add)).toEqual(issuer)
    expect(await administerJson(siteDirectory, ['issuer', 'list'])).toEqual([{ ...issuer, clientId: null }])
    const again = await administer(siteDirectory, add)
    const sentence = `The issuer work (${url}) already exists. Remove it first, or choose another id.`
    expect(again).toMatchObject({ status: 1, stderr: refusedIn(siteDirectory, sentence) })
  })

  test('rule add drops rights inside other rights; tokens last 15 minutes (A-111, A-105)', async ({
    siteDirectory,
  }) => {
    await administerJson(siteDirectory, add)
    const rights = ['--right', 'files:write', '--right', 'files:read:/news', '--right', 'files:write']
    const added = await administerJson(siteDirectory, [...rule, ...rights])
    expect(added).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
      issuer: 'work',
      claims: { groups: 'web=1' },
      site: 1001,
      rights: ['files:write'],
      ttl: 900,
    })
    expect(await administerJson(siteDirectory, ['rule', 'list'])).toEqual([added])
  })

  test('A rule for people needs an issuer with a client id (A-105)', async ({ siteDirectory }) => {
    await administerJson(siteDirectory, add)
    expect((await administer(siteDirectory, [...rule, '--role', 'editor'])).status).toBe(1)
    await administerJson(siteDirectory, ['issuer', 'remove', 'work'])
    await administerJson(siteDirectory, [...add, '--client-id', 'site-admin'])
    expect(await administerJson(siteDirectory, [...rule, '--role', 'editor'])).toMatchObject({ role: 'editor' })
  })

  test('issuer remove also removes the rules, and writes history (A-101, A-109)', async ({ siteDirectory }) => {
    await administerJson(siteDirectory, add)
    const { id } = await administerJson(siteDirectory, [...rule, '--right', 'files:read'])
    expect(await administerJson(siteDirectory, ['issuer', 'remove', 'work'])).toEqual({ removed: true, rules: 1 })
    expect(await administerJson(siteDirectory, ['rule', 'list'])).toEqual([])
    const entries: { type: string; subject: string }[] = await administerJson(siteDirectory, [
      'audit',
      '--site',
      '1001',
    ])
    expect(entries.slice(-4).map(({ type, subject }) => `${type} ${subject}`)).toEqual([
      'issuer.created issuer/work',
      `rule.created rule/${id}`,
      `rule.removed rule/${id}`,
      'issuer.removed issuer/work',
    ])
  })

  test('site remove also removes the rules of the site (A-105)', async ({ siteDirectory }) => {
    await administerJson(siteDirectory, ['site', 'create', '--name', 'Other'])
    await administerJson(siteDirectory, add)
    await administerJson(siteDirectory, [...rule, '--right', 'files:read'])
    const { id } = await administerJson(siteDirectory, [...rule.slice(0, -1), '1002', '--right', 'files:read'])
    await administerJson(siteDirectory, ['site', 'remove', '1001', '--yes'])
    const rules: { id: string }[] = await administerJson(siteDirectory, ['rule', 'list'])
    expect(rules.map((each) => each.id)).toEqual([id])
    expect(await administerJson(siteDirectory, ['issuer', 'list'])).toHaveLength(1)
  })
})
