import { beforeAll, beforeEach, expect, it } from 'vitest'
import type { Answer } from '../../support/answer.ts'
import { target } from '../setup/target.ts'
import { admin, createSite, describeWithAdmin, issueToken } from '../support/admin.ts'
import { importRecords } from '../support/categories.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { at, copy, move, ownFolder, put, remove, rename, restore, store, upload } from '../support/storage.ts'
import { createUploader } from '../support/tus.ts'

const changes = '/api/v2/admin/sites/current/changes'
const own = ownFolder()

const read = (
  query: Readonly<Record<string, string>> = {},
  options: Parameters<typeof call>[1] = {},
): Promise<Answer> => call(`${changes}?${new URLSearchParams(query)}`, options)

/** A cursor at the end of the history. */
const end = async (): Promise<string> => (await read()).json.next ?? ''

/** Returns the entries after a cursor, if they are about the folder of these cases. */
const since = async (after: string, query: Readonly<Record<string, string>> = {}) =>
  (await read({ after, subject: own, ...query })).json.items

beforeAll(async () => {
  await store(`${own}/first.txt`, 'first')
})

it('An entry has its type, time, actor, request and subject (H-1, H-4, H-7)', async () => {
  const before = await end()
  const secret = `?access_token=${target.token}`
  const { headers } = await put(`${own}/one.txt`, 'one', secret, { token: null })
  expect(await since(before)).toEqual([
    {
      id: expect.stringMatching(/^\d{16}-\d+$/),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      type: 'file.stored',
      subject: `${own}/one.txt`,
      actor: expect.any(String),
      requestId: headers['x-request-id'],
      details: null,
    },
  ])
})

it('Each change of files writes one history entry with details (H-2, H-4, S-34)', async () => {
  const before = await end()
  await upload(`${own}/many`, [{ name: 'a.txt' }, { name: 'b.txt' }])
  await upload(`${own}/habit/c.txt`, [{ name: 'c.txt' }])
  await createUploader(`${own}/habit/d.txt`).create('d.txt', 0)
  await store(`${own}/page.html`, 'draft', '?version=draft')
  await store(`${own}/empty`, '', '?type=folder')
  await rename(`${own}/many`, 'moved')
  await copy(`${own}/moved/a.txt`, `/${own}/copy.txt`)
  for (const path of [`${own}/copy.txt`, `${own}/moved`]) await remove(path)
  for (const path of [`${own}/copy.txt`, `${own}/moved`]) await restore(path)
  expect(await since(before)).toMatchObject([
    { type: 'file.stored', subject: `${own}/many`, details: { names: ['a.txt', 'b.txt'] } },
    ...['c.txt', 'd.txt'].map((name) => ({ subject: `${own}/habit`, details: { names: [name] } })),
    { type: 'file.stored', subject: `${own}/page.html`, details: { draft: true } },
    { type: 'folder.created', subject: `${own}/empty` },
    { type: 'file.moved', subject: `${own}/many`, details: { to: `${own}/moved` } },
    { type: 'file.copied', subject: `${own}/moved/a.txt`, details: { to: `${own}/copy.txt` } },
    { type: 'file.removed', subject: `${own}/copy.txt` },
    { type: 'folder.removed', subject: `${own}/moved`, details: { count: 3 } },
    { type: 'file.restored', subject: `${own}/copy.txt`, details: null },
    { type: 'folder.restored', subject: `${own}/moved`, details: { count: 3 } },
  ])
})

it('A folder selects its uploads, moves into it and its removal (H-10, V-34)', async () => {
  const before = await end()
  await upload(`${own}/in`, [{ name: 'a.txt' }])
  for (const name of ['x', 'inside.txt', 'y']) await store(`${own}/${name}`, name)
  await move(`${own}/x`, `${own}/in/x`)
  await remove(`${own}/in`)
  const found = await since(before, { subject: `${own}/in/` })
  expect(found.map(({ type }: { type: string }) => type)).toEqual(['file.stored', 'file.moved', 'folder.removed'])
  expect(await since(before, { subject: `${own}/in/a` })).toEqual(found.slice(0, 1))
})

it('A subject selects the same entries in each form of Unicode (H-10, S-1, V-34)', async () => {
  const before = await end()
  await store(`${own}/Zoe\u0308/a.txt`, 'x')
  for (const form of ['NFC', 'NFD']) {
    const subject = `${own}/Zo\u00eb/`.normalize(form)
    expect(await since(before, { subject })).toMatchObject([{ type: 'file.stored' }])
  }
})

it('Refused changes and reads write no history entry (H-1)', async () => {
  const before = await end()
  await remove(`${own}/none.txt`)
  await call(at(`${own}/first.txt`))
  await put(`${own}/first.txt/below.txt`, 'x')
  expect(await since(before)).toEqual([])
})

it('Without after, the list has the newest entries, sorted by time (H-10, H-11)', async () => {
  for (const name of ['n1', 'n2', 'n3']) await store(`${own}/${name}`, name)
  const { json } = await read({ limit: '2', subject: own })
  expect(json.items).toMatchObject([{ subject: `${own}/n2` }, { subject: `${own}/n3` }])
  // `next` may be later than the last item, because other callers also change the site.
  expect(json.next >= json.items[1].id).toBe(true)
  expect(await since(json.next)).toEqual([])
  await store(`${own}/n4`, 'n4')
  expect(await since(json.next)).toMatchObject([{ subject: `${own}/n4` }])
  expect((await read({ after: '', subject: own, limit: '1' })).json.items).toMatchObject([
    { subject: `${own}/first.txt` },
  ])
  expect(await since(json.items[0].id)).toMatchObject([{ subject: `${own}/n3` }, { subject: `${own}/n4` }])
})

it('A reader gets every entry exactly once while 16 callers write (H-11)', async () => {
  const start = await end()
  const names = Array.from({ length: 32 }, (_, index) => `w${index}`)
  let left = names.length
  const writing = Array.from({ length: 16 }, async (_, writer) => {
    for (const name of names.filter((_, index) => index % 16 === writer)) {
      await store(`${own}/${name}`, name)
      left -= 1
    }
  })
  const seen: string[] = []
  for (let after = start; ; ) {
    const wasOver = left === 0
    const { json } = await read({ after, limit: '5' })
    seen.push(...json.items.map(({ subject }: { subject: string }) => subject.slice(own.length + 1)))
    after = json.next ?? after
    if (wasOver && json.next === null) break
  }
  await Promise.all(writing)
  expect(seen.filter((name) => names.includes(name)).toSorted()).toEqual(names.toSorted())
})

it.each([
  ['after', ['y1', 'y2', 'y3']],
  ['before', ['y3', 'y2', 'y1']],
] as const)('Pages that begin with an empty %s contain each entry once (H-10, H-11)', async (direction, names) => {
  const folder = `${own}/paged-${direction}`
  for (const name of ['y1', 'y2', 'y3']) await store(`${folder}/${name}`, name)
  const seen: string[] = []
  for (let next: string | null = ''; next !== null; ) {
    const { json } = await read({ [direction]: next, limit: '1', subject: folder })
    seen.push(...json.items.map(({ subject }: { subject: string }) => subject.slice(-2)))
    next = json.next
  }
  expect(seen).toEqual(names)
})

it('No entry is before the smallest id (H-10)', async () => {
  const smallest = (await end()).replace(/^\d+/, '0'.repeat(16))
  expect((await read({ before: smallest })).json).toMatchObject({ items: [], next: null })
})

it('The parameter type selects entries of one or several types (H-10)', async () => {
  const before = await end()
  await store(`${own}/typed.txt`, 'x')
  await remove(`${own}/typed.txt`)
  expect(await since(before, { type: 'file.removed' })).toMatchObject([{ type: 'file.removed' }])
  expect(await since(before, { type: 'file.removed, file.stored' })).toHaveLength(2)
  const { json } = await read({ after: before, type: 'form.created' })
  // The next page begins after the entries that the filter skipped.
  expect([json.items, json.next >= (await since(before))[1].id]).toEqual([[], true])
})

const after = (position: string) => ({ after: position })
const malformed: readonly Readonly<Record<string, string>>[] = [
  ...['0', '-1', '501', 'abc', '1.5', '', '1e2', ' 5'].map((limit) => ({ limit })),
  ...['abc', '1', '1769860800000000-1', '1769860800000000', '17698608000000001-1001', '../1001'].map(after),
  ...['9999999999999999-1001', '1769860800000000-1001 ', `${'1'.repeat(16)}-${'9'.repeat(400)}`].map(after),
  ...['file.eaten', 'file', '', 'site.created,', 'x'.repeat(1_001)].map((type) => ({ type })),
  { subject: 'x'.repeat(1_001) },
  ...[{ before: 'abc' }, { before: '1769860800000000' }, { before: '', after: '' }],
]
it.each(malformed.map((query) => ({ start: JSON.stringify(query).slice(0, 50), query })))(
  'The query $start is refused with 104000 (H-10)',
  async ({ query }) => {
    expectError(await read(query), 400, 104000)
  },
)

describeWithAdmin('The history of a site', () => {
  let site: number
  beforeEach(async () => {
    site = await createSite('History')
  })

  it('Entries about files are shown only with the permission files (H-12)', async () => {
    const path = `/api/v2/admin/sites/${site}`
    const files = { token: await issueToken([site], 'files') }
    const none = { token: await issueToken([site]) }
    expect((await call(`${path}/storage/a.txt`, { method: 'PUT', body: 'x', ...files })).status).toBe(200)
    await admin('workflow', 'start', 'a.html', '--site', String(site))
    const typesFor = async (options: object) =>
      (await call(`${path}/changes`, options)).json.items.map(({ type }: { type: string }) => type)
    const ofTokens = ['site.created', 'token.created', 'token.created']
    expect(await typesFor(files)).toEqual([...ofTokens, 'file.stored', 'workflow.created'])
    expect(await typesFor(none)).toEqual(ofTokens)
  })

  it('A request that changes nothing writes no history entry (H-1, H-3)', async () => {
    const token = await issueToken([site], 'files')
    const [own, v3] = [['--site', String(site)], `/webresources/api/v3/sites/${site}`]
    const news = [
      { kind: 'news', id: 1 },
      { kind: 'category', id: 5, name: 'Five' },
      { kind: 'category', id: 7, name: 'Seven' },
    ]
    const fields = `/api/v1/admin/sites/${site}/webforms/1/fields/system`
    const send = (method: string, path: string, body: object) => call(path, { method, body, token })
    for (let time = 0; time < 2; time++) {
      await admin('site', 'create', '--name', 'Again', '--id', String(site)).catch(() => {})
      await admin('site', 'rename', String(site), '--name', 'Renamed')
      await admin('form', 'create', ...own, '--name', 'Form', '--id', '1').catch(() => {})
      await admin('form', 'rename', '1', ...own, '--name', 'Renamed')
      await admin('category', 'create', ...own, '--name', 'Six', '--id', '6').catch(() => {})
      await importRecords(site, news)
      for (const objectId of [1, 2]) await send('POST', `${v3}/categories/5/news`, { items: [{ objectId }] })
      for (const categoryId of [7, 8]) await send('POST', `${v3}/news/1/categories`, { items: [{ categoryId }] })
      await send('POST', fields, { type: { id: -2 }, mandatory: true })
      await send('POST', fields, { type: { id: -1 }, mandatory: true })
      await send('PUT', `${fields}/-2`, { mandatory: true, order: 1 })
      await admin('workflow', 'start', 'a.html', ...own).catch(() => {})
    }
    for (let time = 0; time < 2; time++) {
      await admin('workflow', 'end', 'a.html', ...own).catch(() => {})
      await admin('form', 'remove', '1', ...own, '--yes').catch(() => {})
      await admin('object', 'remove', 'news', '1', ...own, '--yes').catch(() => {})
      await admin('category', 'remove', '5', ...own, '--yes').catch(() => {})
    }
    const { items } = (await call(`/api/v2/admin/sites/${site}/changes`, { token })).json
    const entries = items.map(({ type, subject }: { type: string; subject: string }) => `${type} ${subject}`)
    expect(entries.slice(2)).toEqual([
      ...[`site.changed site/${site}`, 'form.created form/1', 'form.changed form/1', 'category.created category/6'],
      ...['content.imported news', 'content.imported category'],
      ...['link.added category/5/news/1', 'link.added category/7/news/1', 'field.created form/1/field/-2'],
      ...['workflow.created a.html', 'workflow.removed a.html', 'form.removed form/1', 'object.removed news/1'],
      'category.removed category/5',
    ])
  })
})
