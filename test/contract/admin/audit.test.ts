import { expect } from 'vitest'
import { tamper } from '../../support/backups.ts'
import { test } from '../../support/test.ts'

test('audit filters the history by type, actor and time (H-5, T-18)', async ({ commands: { run } }) => {
  await run('form create --site 1001 --name Contact')
  const typesBy = async (options = '') =>
    (await run(`audit --site 1001${options}`)).map(({ type }: { type: string }) => type)
  expect(await typesBy(' --since 2d')).toEqual(['site.created', 'form.created'])
  expect(await typesBy(' --type form.created')).toEqual(['form.created'])
  expect(await typesBy(' --actor nobody')).toEqual([])
  const [{ actor }] = await run('audit --site 1001')
  expect(await typesBy(` --actor ${actor}`)).toHaveLength(2)
})

test('audit names a token by the beginning of its hash, and never shows it', async ({ commands: { run } }) => {
  const { token } = await run('token issue --user ann --site 1001')
  const changes = await run('audit --site 1001 --type token.created')
  expect(changes).toMatchObject([{ subject: expect.stringMatching(/^token\/[0-9a-f]{12}$/) }])
  expect(JSON.stringify(changes)).not.toContain(token)
})

test('audit shows the newest change last after a clock was ahead (T-18)', async ({
  commands: { run },
  siteDirectory,
}) => {
  tamper(siteDirectory, 'UPDATE changes SET at = at + 86400000')
  await run('form create --site 1001 --name Contact')
  expect(await run('audit --site 1001')).toMatchObject([{ type: 'site.created' }, { type: 'form.created' }])
})
