import { describe, expect } from 'vitest'
import { administer, administerJson } from '../../support/administration.ts'
import { messages } from '../../support/messages.ts'
import { test } from '../../support/test.ts'

const words = (line: string): string[] => line.split(' ').filter(Boolean)

const addBob = (directory: string) =>
  administerJson(directory, words('user add bob --site 1001 --role author --folder /news'))

const keyCreate = (line: string): string[] => words(`key create --site 1001 --name Robot ${line}`)

const listed = (directory: string) => administerJson(directory, words('key list --site 1001'))

describe('key create', () => {
  test('key create prints the key once, and the list never shows it (A-90, A-103)', async ({ siteDirectory }) => {
    await addBob(siteDirectory)
    const { id, key } = await administerJson(siteDirectory, keyCreate('--user bob --right files:write:/news'))
    const { stdout } = await administer(siteDirectory, words('--json key list --site 1001'))
    expect(JSON.parse(stdout)).toMatchObject([{ id, name: 'Robot', user: 'bob', rights: ['files:write:/news'] }])
    expect(stdout).not.toContain(key)
  })

  test.for(['files:write', 'files:read:/new'])(
    'key create refuses the right %s, which the person lacks (A-57, A-88)',
    async (right, { siteDirectory }) => {
      await addBob(siteDirectory)
      const { status, stderr } = await administer(siteDirectory, keyCreate(`--user bob --right ${right}`))
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringContaining(messages.key.lacks('bob', right)),
      })
      expect(await listed(siteDirectory)).toEqual([])
    },
  )
})

describe('key revoke and key change', () => {
  test('key revoke and change accept a key, its id, or its first digits (A-101)', async ({ siteDirectory }) => {
    await addBob(siteDirectory)
    for (const nameOf of [
      ({ key }: { key: string }) => key,
      ({ id }: { id: string }) => id,
      ({ id }: { id: string }) => id.slice(0, 8),
      ({ id }: { id: string }) => `key/${id.slice(0, 12)}`,
    ]) {
      const created = await administerJson(siteDirectory, keyCreate('--user bob --right files:read:/news'))
      expect(await administerJson(siteDirectory, ['key', 'revoke', nameOf(created)])).toEqual({ revoked: true })
      expect(await listed(siteDirectory)).toEqual([])
    }
  })

  test('key revoke and change refuse tokens, and token revoke refuses keys', async ({ siteDirectory }) => {
    await addBob(siteDirectory)
    const { token } = await administerJson(siteDirectory, words('token issue --user ann --site 1001'))
    const { id } = await administerJson(siteDirectory, keyCreate('--user bob --right files:read:/news'))
    expect((await administer(siteDirectory, ['key', 'revoke', token])).status).toBe(1)
    expect((await administer(siteDirectory, ['token', 'revoke', id])).status).toBe(1)
    expect(await administerJson(siteDirectory, words('token list'))).toHaveLength(1)
    expect(await listed(siteDirectory)).toHaveLength(1)
  })
})

test('The keys of a removed site are removed too; a new site with the same id has none', async ({ siteDirectory }) => {
  await addBob(siteDirectory)
  await administerJson(siteDirectory, keyCreate('--user bob --right files:read:/news'))
  await administerJson(siteDirectory, words('site remove 1001 --yes'))
  await administerJson(siteDirectory, words('site create --name Shop --id 1001'))
  await addBob(siteDirectory)
  expect(await listed(siteDirectory)).toEqual([])
})
