import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import * as z from 'zod'
import { test } from '../../support/test.ts'

const issued = z.strictObject({ token: z.string().regex(/^[0-9a-f]{64}$/), expires: z.iso.datetime() })
const issue = (options = '') => `token issue --user ann --site 1001${options}`

test.for([
  ['', 14 * 24 * 3600],
  [' --ttl 4h', 4 * 3600],
  [' --ttl 90s', 90],
  [' --ttl 3d', 3 * 24 * 3600],
  [' --ttl 1y', 365 * 24 * 3600],
] as const)('token issue%s prints the expiry (A-14, T-9, T-10)', async ([options, seconds], { commands: { run } }) => {
  const before = Math.floor(Date.now() / 1000)
  const { expires } = issued.parse(await run(issue(options)))
  const issuedAt = Date.parse(expires) / 1000 - seconds
  expect(issuedAt).toBeGreaterThanOrEqual(before)
  expect(issuedAt).toBeLessThanOrEqual(Date.now() / 1000)
})

test('the permission files adds files:write to the given rights (A-39, A-106)', async ({ commands: { run } }) => {
  await run(issue(' --permission files --right forms:read --right files:read:/news/'))
  expect(await run('token list')).toMatchObject([{ rights: ['files:write', 'forms:read'] }])
})

test('more than 50 rights are refused without a new token (A-106)', async ({ commands: { run, attempt } }) => {
  const rights = Array.from({ length: 51 }, (_, index) => ` --right files:read:/${index}`).join('')
  expect((await attempt(issue(rights))).status).toBe(2)
  expect(await run('token list')).toEqual([])
})

test('tokens are listed by hash, and never shown (A-12, T-9)', async ({ commands: { run, attempt } }) => {
  await run('site create --name Other')
  const { token, expires } = await run(issue(' --site 1002 --site 1001 --permission files --permission files'))
  await run(issue())
  expect((await attempt('token list')).stdout).not.toContain(token)
  const hash = createHash('sha256').update(token).digest('hex')
  const rights = ['files:write', 'forms:write', 'categories:write', 'history:read']
  expect(await run('token list --site 1002')).toEqual([
    { hash, user: 'ann', sites: [1001, 1002], permissions: ['files'], rights, expires },
  ])
  for (const options of ['', ' --site 1001']) expect(await run(`token list${options}`)).toHaveLength(2)
})

test('token revoke takes a part of a hash; token list has no expired ones (T-9, T-11)', async ({
  commands: { run, attempt },
  siteDirectory,
}) => {
  const hashes = [`abcdef01${'0'.repeat(56)}`, `abcdef01${'1'.repeat(56)}`, `12345678${'2'.repeat(56)}`]
  {
    using database = new DatabaseSync(join(siteDirectory, 'site-admin.db'), { timeout: 5_000 })
    const add = database.prepare(
      "INSERT INTO grants (hash, user, sites, permissions, expires) VALUES (?, 'ann', '[1001]', '[]', ?)",
    )
    for (const hash of hashes) add.run(hash, 4_000_000_000)
    add.run('9'.repeat(64), 1)
  }
  expect((await attempt('token revoke abcdef01')).stderr).toContain('The hashes of 2 tokens begin with abcdef01.')
  expect((await attempt('token revoke 1234567')).stderr).toContain('Give the first 8 digits of the token or more')
  expect(await run('token list')).toHaveLength(3)
  for (const text of ['12345678', 'token/abcdef011111'])
    expect(await run(`token revoke ${text}`)).toEqual({ revoked: true })
  expect(await run('token list')).toMatchObject([{ hash: hashes[0] }])
})
