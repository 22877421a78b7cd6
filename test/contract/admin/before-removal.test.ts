import { describe, expect } from 'vitest'
import { administer, administerJson } from '../../support/administration.ts'
import { storage } from '../../support/paths.ts'
import { test } from '../../support/test.ts'

test('site show tells what is kept of replaced and removed files', async ({ start, directory }) => {
  const service = await start()
  const put = (path: string, body: string) => service.request(`${storage}/${path}`, { method: 'PUT', body })
  const show = () => administerJson(directory, ['site', 'show', String(service.siteId)])
  expect(await show()).toMatchObject({ keptVersions: 0, keptBytes: 0 })
  await put('a.txt', 'four')
  await put('a.txt', 'seventy')
  await put('b.html?version=draft', 'x'.repeat(20_000))
  await service.request(`${storage}/b.html`, { method: 'DELETE' })
  expect(await show()).toMatchObject({ keptVersions: 2, keptBytes: 20_004 })
})

describe('remove --dry-run', () => {
  const records = [
    { kind: 'category', id: 5, name: 'Five' },
    { kind: 'category', id: 6, name: 'Six' },
    { kind: 'news', id: 1, subject: 'One' },
    { kind: 'news', id: 2, subject: 'Two' },
    ...[1, 2].map((objectId) => ({ kind: 'link', type: 'news', categoryId: 5, objectId })),
    { kind: 'link', type: 'news', categoryId: 6, objectId: 1 },
  ]
  const lines = records.map((record) => JSON.stringify(record)).join('\n')

  test('tells how many links would go, and removes nothing', async ({ siteDirectory: directory }) => {
    const imported = await administer(directory, ['import', '-', '--site', '1001'], lines)
    expect(imported.status).toBe(0)
    const tell = (...args: readonly string[]) => administerJson(directory, [...args, '--site', '1001', '--dry-run'])
    for (let time = 0; time < 2; time++) {
      expect(await tell('category', 'remove', '5')).toEqual({ removed: false, links: 2 })
      expect(await tell('object', 'remove', 'news', '1')).toEqual({ removed: false, links: 2 })
    }
  })

  test('a removal without --yes says how many links would go, and removes nothing (T-17)', async ({
    siteDirectory: directory,
  }) => {
    await administer(directory, ['import', '-', '--site', '1001'], lines)
    const commands = [
      ['category 5', 'category', 'remove', '5', '--site', '1001'],
      ['news item 1', 'object', 'remove', 'news', '1', '--site', '1001'],
    ] as const
    for (const [what, ...command] of commands) {
      const refused = await administer(directory, command)
      expect(refused).toMatchObject({ status: 1, stdout: '' })
      expect(refused.stderr).toContain(`Removing ${what} also removes its links: 2. Nothing was removed: add --yes`)
    }
    for (const [, ...command] of commands) {
      expect(await administerJson(directory, [...command, '--yes'])).toEqual({ removed: true })
    }
  })

  test('refuses what is not there', async ({ siteDirectory: directory }) => {
    const refused = await administer(directory, ['category', 'remove', '9', '--site', '1001', '--dry-run'])
    expect(refused).toMatchObject({ status: 1 })
    expect(refused.stderr).toMatch(/^Site 1001 has no category 9\./)
    const other = await administer(directory, ['object', 'remove', 'blog', '9', '--site', '1001', '--dry-run'])
    expect(other.stderr).toMatch(/^Site 1001 has no blog 9\. /)
  })
})
