import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect } from 'vitest'
import * as z from 'zod'
import { administer, administerJson } from '../../support/administration.ts'
import { test } from '../../support/test.ts'

const issued = z.strictObject({ token: z.string().regex(/^[0-9a-f]{64}$/), expires: z.iso.datetime() })

const issue = async (directory: string, ...options: string[]) =>
  issued.parse(await administerJson(directory, ['token', 'issue', '--user', 'ann', '--site', '1001', ...options]))

describe('token issue', () => {
  test.for([
    ['', 14 * 24 * 3600],
    ['4h', 4 * 3600],
    ['90s', 90],
    ['3d', 3 * 24 * 3600],
    ['1y', 365 * 24 * 3600],
  ] as const)(
    'the lifetime "%s" is printed as the time of expiry (A-14, T-9, T-10)',
    async ([lifetime, seconds], { siteDirectory }) => {
      const before = Math.floor(Date.now() / 1000)
      const { expires } = await issue(siteDirectory, ...(lifetime ? ['--ttl', lifetime] : []))
      const issuedAt = Date.parse(expires) / 1000 - seconds
      expect(issuedAt).toBeGreaterThanOrEqual(before)
      expect(issuedAt).toBeLessThanOrEqual(Date.now() / 1000)
    },
  )
})

describe('token issue --right', () => {
  const rightsIn = async (directory: string) =>
    (await administerJson(directory, ['token', 'list'])).map(({ rights }: { rights: string[] }) => rights)

  test('a token has exactly the given rights, each once (A-38, A-39, A-106)', async ({ siteDirectory }) => {
    const repeated = ['--right', 'files:read:/news/', '--right', 'files:read:/news', '--right', 'history:read']
    await issue(siteDirectory, ...repeated)
    expect(await rightsIn(siteDirectory)).toEqual([['files:read:/news', 'history:read']])
  })

  test('the permission files adds files:write to the given rights (A-39, A-106)', async ({ siteDirectory }) => {
    await issue(siteDirectory, '--permission', 'files', '--right', 'forms:read', '--right', 'files:read:/news')
    expect(await rightsIn(siteDirectory)).toEqual([['files:write', 'forms:read']])
  })

  test('more than 50 rights are refused, and the command issues no token (A-106)', async ({ siteDirectory }) => {
    const rights = Array.from({ length: 51 }, (_, index) => ['--right', `files:read:/${index}`]).flat()
    const { status } = await administer(siteDirectory, ['token', 'issue', '--user', 'a', '--site', '1001', ...rights])
    expect(status).toBe(2)
    expect(await rightsIn(siteDirectory)).toEqual([])
  })
})

describe('token list', () => {
  test('a token is listed by its hash, and never shown (T-9)', async ({ siteDirectory }) => {
    await administerJson(siteDirectory, ['site', 'create', '--name', 'Other'])
    const options = ['--site', '1002', '--site', '1001', '--permission', 'files', '--permission', 'files']
    const { token, expires } = await issue(siteDirectory, ...options)
    const { stdout } = await administer(siteDirectory, ['--json', 'token', 'list'])
    expect(stdout).not.toContain(token)
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
    const rights = ['files:write', 'forms:write', 'categories:write', 'history:read']
    expect(JSON.parse(stdout)).toEqual([
      { hash, user: 'ann', sites: [1001, 1002], permissions: ['files'], rights, expires },
    ])
  })
})

test('token list --site lists the tokens that cover the site (T-9)', async ({ siteDirectory }) => {
  await administerJson(siteDirectory, ['site', 'create', '--name', 'Other'])
  await issue(siteDirectory, '--site', '1002')
  await issue(siteDirectory)
  const listed = async (...options: string[]) =>
    (await administerJson(siteDirectory, ['token', 'list', ...options])).map(({ sites }: { sites: number[] }) => sites)
  expect(await listed('--site', '1002')).toEqual([[1001, 1002]])
  expect(await listed('--site', '1001')).toHaveLength(2)
  expect(await listed()).toHaveLength(2)
})

test('token revoke accepts a unique beginning of a hash (T-11)', async ({ siteDirectory }) => {
  const revoke = (text: string) => administer(siteDirectory, ['--json', 'token', 'revoke', text])
  const listed = async () =>
    (await administerJson(siteDirectory, ['token', 'list'])).map(({ hash }: { hash: string }) => hash)
  const [one, other, third] = ['0', '1', '2'].map(
    (digit, index) => `${index < 2 ? 'abcdef01' : '12345678'}${digit.repeat(56)}`,
  )
  {
    using database = new DatabaseSync(join(siteDirectory, 'site-admin.db'), { timeout: 5_000 })
    const add = database.prepare(
      "INSERT INTO grants (hash, user, sites, permissions, expires) VALUES (?, 'ann', '[1001]', '[]', 4000000000)",
    )
    for (const hash of [one, other, third]) add.run(hash ?? '')
  }
  expect((await revoke('abcdef01')).stderr).toContain('The hashes of 2 tokens begin with abcdef01.')
  expect((await revoke('1234567')).status).toBe(1)
  expect(await listed()).toHaveLength(3)
  expect((await revoke('12345678')).stdout).toBe('{"revoked":true}\n')
  expect((await revoke('token/abcdef011111')).stdout).toBe('{"revoked":true}\n')
  expect(await listed()).toEqual([one])
})
