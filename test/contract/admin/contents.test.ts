import { describe, expect } from 'vitest'
import { administer, administerJson as administerWith, refusedIn } from '../../support/administration.ts'
import { test } from '../../support/test.ts'

const ofSite = ['--site', '1001'] as const
const noSite = 'Site 9 does not exist. "site list" lists all sites.'

const records = [
  { kind: 'webForm', id: 3, name: 'Contact' },
  { kind: 'field', webFormId: 3, typeId: -2 },
  { kind: 'field', webFormId: 3, typeId: -3 },
  { kind: 'category', id: 5, name: 'Five' },
  { kind: 'news', id: 1, subject: 'One', body: '<p>One</p>' },
  { kind: 'link', type: 'news', categoryId: 5, objectId: 1 },
]
const text = records.map((record) => JSON.stringify(record)).join('\n')

const administerJson = async (directory: string, args: readonly string[]) => {
  const { status, stdout, stderr } = await administer(directory, ['--json', ...args])
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

const filled = async (directory: string) => {
  await administerWith(directory, ['import', '-', ...ofSite], text)
  return (...args: readonly string[]) => administerJson(directory, [...args, ...ofSite])
}

describe('form', () => {
  test('rename gives a form another name, and keeps its fields (T-16)', async ({ siteDirectory }) => {
    const json = await filled(siteDirectory)
    expect(await json('form', 'rename', '3', '--name', ' Write to us ')).toEqual({ id: 3, name: 'Write to us' })
    expect(await json('form', 'list')).toEqual([{ id: 3, name: 'Write to us' }])
    expect(await json('form', 'remove', '3', '--dry-run')).toEqual({ removed: false, fields: 2 })
  })

  test('remove tells what would go, and removes nothing without --yes (T-17)', async ({ siteDirectory }) => {
    const json = await filled(siteDirectory)
    expect(await administer(siteDirectory, ['form', 'remove', '3', ...ofSite])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: refusedIn(
        siteDirectory,
        'Removing web form 3 "Contact" also removes its fields: 2. Nothing was removed: add --yes to remove it.',
      ),
    })
    expect(await json('form', 'list')).toHaveLength(1)
    expect(await json('form', 'remove', '3', '--yes')).toEqual({ removed: true })
    expect(await json('form', 'list')).toEqual([])
  })
})

test('category rename gives a category another name, and keeps its links (T-16)', async ({ siteDirectory }) => {
  const json = await filled(siteDirectory)
  expect(await json('category', 'rename', '5', '--name', 'Cinq')).toEqual({ id: 5, name: 'Cinq' })
  expect(await json('category', 'list')).toEqual([{ id: 5, name: 'Cinq' }])
  expect(await json('category', 'remove', '5', '--dry-run')).toEqual({ removed: false, links: 1 })
})

describe('object', () => {
  test('create gives the next id, and sensible values to what nobody says', async ({ siteDirectory }) => {
    const json = await filled(siteDirectory)
    const members = JSON.stringify({ subject: 'Two words', body: '<p>2</p>', releaseDate: '2026-01-31' })
    const made = await json('object', 'create', 'news', '--members', members)
    expect(made).toMatchObject({
      id: 2,
      siteId: 1001,
      subject: 'Two words',
      slug: 'two-words',
      body: '<p>2</p>',
      releaseDate: '2026-01-31T00:00:00',
      enabled: true,
      categories: [],
    })
    expect(await json('object', 'show', 'news', '2')).toEqual(made)
    expect(await json('object', 'create', 'blog', '--id', '40')).toMatchObject({ id: 40, blogName: 'Blog 40' })
  })

  test('list names each by what people know it by', async ({ siteDirectory }) => {
    const json = await filled(siteDirectory)
    const releaseDate = expect.stringMatching(/^20/)
    expect(await json('object', 'list', 'news')).toEqual([
      { id: 1, subject: 'One', slug: 'one', enabled: true, releaseDate },
    ])
    expect(await json('object', 'list', 'blog')).toEqual([])
  })

  test('show gives every member and the categories, for people one in a row (T-14)', async ({ siteDirectory }) => {
    const json = await filled(siteDirectory)
    const shown = await json('object', 'show', 'news', '1')
    expect(shown).toMatchObject({ id: 1, subject: 'One', body: '<p>One</p>', categories: [5] })
    const { stdout } = await administer(siteDirectory, ['object', 'show', 'news', '1', ...ofSite])
    expect(stdout).toMatch(/^member +value\nid +1\n/)
    expect(stdout).toMatch(/\nsubject +One\n/)
  })

  test('create is refused for members that there are not, and for an id that is taken', async ({ siteDirectory }) => {
    await filled(siteDirectory)
    const refusal = async (...args: readonly string[]) => {
      const outcome = await administer(siteDirectory, ['object', 'create', 'news', ...args, ...ofSite])
      expect(outcome).toMatchObject({ status: 1, stdout: '' })
      return outcome.stderr
    }
    expect(await refusal('--members', '{"colour": "red"}')).toMatch(
      /^colour: the record has no such member\. Its members: id, /,
    )
    expect(await refusal('--members', '{"enabled": 1}')).toMatch(/^enabled: must be true or false\. /)
    expect(await refusal('--id', '1')).toMatch(/^Site 1001 has a news item 1 already\. Choose another --id/)
  })
})

test('workflow list names the pages, and no other site’s', async ({ siteDirectory }) => {
  await administerJson(siteDirectory, ['site', 'create', '--name', 'Other'])
  for (const [page, site] of [
    ['b/c.html', '1001'],
    ['a.html', '1001'],
    ['z.html', '1002'],
  ] as const) {
    await administerJson(siteDirectory, ['workflow', 'start', page, '--site', site])
  }
  expect(await administerJson(siteDirectory, ['workflow', 'list', ...ofSite])).toEqual([
    { path: 'a.html', workflow: 'running' },
    { path: 'b/c.html', workflow: 'running' },
  ])
})

describe('what is not there is refused, with what to do about it:', () => {
  const noForm = 'Site 1001 has no web form 9. "form list" lists its web forms.'
  test.for([
    ['site rename 9 --name A', noSite],
    ['site remove 9 --yes', noSite],
    ['form rename 9 --site 1001 --name A', noForm],
    ['form remove 9 --site 1001 --yes', noForm],
    ['form remove 9 --site 1001 --dry-run', noForm],
    ['form remove 9 --site 9 --yes', noSite],
    ['category rename 9 --site 1001 --name A', 'Site 1001 has no category 9. "category list" lists its categories.'],
    ['object show news 9 --site 1001', 'Site 1001 has no news item 9. "object list news" lists those it has.'],
    ['object list blog --site 9', noSite],
    ['object create blog --site 9', noSite],
    ['workflow list --site 9', noSite],
    ['export --site 9', noSite],
  ] as const)('%s', async ([command, reason], { siteDirectory }) => {
    const outcome = await administer(siteDirectory, command.split(' '))
    expect(outcome).toMatchObject({ status: 1, stdout: '', stderr: refusedIn(siteDirectory, reason) })
  })
})
