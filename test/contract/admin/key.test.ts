import { expect } from 'vitest'
import { test as base } from '../../support/test.ts'

const listKeys = 'key list --site 1001'

/** The commands on a site with the person bob, and one that creates a key of bob with a right. */
const test = base.extend('keys', async ({ commands }) => {
  await commands.run('user add bob --site 1001 --role author --folder /news')
  const lineOf = (right: string) => `key create --site 1001 --name Robot --user bob --right ${right}`
  return { ...commands, lineOf, create: () => commands.run(lineOf('files:write:/news')) }
})

test.for(['files:write', 'files:read:/new'])(
  'key create refuses the right %s, which the person lacks (A-57, A-88)',
  async (right, { keys: { run, attempt, lineOf } }) => {
    const stderr = expect.stringContaining(`bob lacks the right ${right} on site 1001`)
    expect(await attempt(lineOf(right))).toMatchObject({ status: 1, stderr })
    expect(await run(listKeys)).toEqual([])
  },
)

test('key revoke accepts a key, its id, or its first digits (A-101)', async ({ keys: { run, create } }) => {
  for (const nameOf of [
    ({ key }: { key: string }) => key,
    ({ id }: { id: string }) => id,
    ({ id }: { id: string }) => id.slice(0, 8),
    ({ id }: { id: string }) => `key/${id.slice(0, 12)}`,
  ]) {
    expect(await run(`key revoke ${nameOf(await create())}`)).toEqual({ revoked: true })
    expect(await run(listKeys)).toEqual([])
  }
})

test('key revoke refuses tokens, and token revoke refuses keys', async ({ keys: { run, attempt, create } }) => {
  const { token } = await run('token issue --user ann --site 1001')
  const { id } = await create()
  for (const line of [`key revoke ${token}`, `token revoke ${id}`]) expect((await attempt(line)).status).toBe(1)
  expect([await run('token list'), await run(listKeys)]).toMatchObject([{ length: 1 }, { length: 1 }])
})
