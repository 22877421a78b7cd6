import { beforeEach, expect } from 'vitest'
import { messages } from '../../support/messages.ts'
import { admin, testWithAdmin } from '../support/admin.ts'
import { createLibrary, importRecords, type Library, objectIds, records, withQuery } from '../support/categories.ts'
import { expectError } from '../support/expectations.ts'

let own: Library
const site = () => String(own.siteId)
beforeEach(async () => {
  own = await createLibrary(records)
})

testWithAdmin('A category is created under the next id or a chosen id (T-13)', async () => {
  const id = async (...options: readonly string[]) =>
    (await admin('category', 'create', '--site', site(), '--name', 'New', ...options)).id
  expect(await id()).toBe(7)
  expect(await id('--id', '40')).toBe(40)
  expect(await id()).toBe(41)
  await expect(id('--id', '40')).rejects.toThrow(/already/)
  expect((await admin('category', 'list', '--site', site())).map((category: { id: number }) => category.id)).toEqual([
    5, 6, 7, 40, 41,
  ])
  expect((await own.call('/categories/40')).json).toEqual({ id: 40, name: 'New' })
})

testWithAdmin('A removed news item or blog disappears from its categories (T-14)', async () => {
  expect(await admin('object', 'remove', 'news', '25', '--site', site(), '--yes')).toEqual({ removed: true })
  expect(await admin('object', 'remove', 'blog', '3', '--site', site(), '--yes')).toEqual({ removed: true })
  await expect(admin('object', 'remove', 'news', '25', '--site', site(), '--yes')).rejects.toThrow(/news item 25/)
  expect(objectIds(await own.call('/categories/5/news?limit=500'))).not.toContain(25)
  expect((await own.call('/categories/5/news')).json.totalItemsCount).toBe(24)
  expect((await own.call('/categories/5/blogs')).json.totalItemsCount).toBe(2)
  expect((await own.call('/news')).json.totalItemsCount).toBe(29)
  const body = { items: [{ objectId: 25 }] }
  expectError(await own.call('/categories/5/news', { method: 'POST', body }), 404, 220002)
})

testWithAdmin('The links of a removed category are removed too (T-13)', async () => {
  await importRecords(own.siteId, [
    { kind: 'category', id: 50, name: 'Short-lived' },
    { kind: 'link', type: 'news', categoryId: 50, objectId: 2 },
  ])
  expect(await admin('category', 'remove', '50', '--site', site(), '--yes')).toEqual({ removed: true })
  expectError(await own.call('/categories/50/news'), 404, 220001)
  await expect(admin('category', 'remove', '50', '--site', site(), '--yes')).rejects.toThrow(/category 50/)
  expect((await own.call('/news/2/categories')).json.items).toEqual([{ id: 5, name: 'Five' }])
  await admin('category', 'create', '--site', site(), '--name', 'Again', '--id', '50')
  expect((await own.call('/categories/50/news')).json.totalItemsCount).toBe(0)
})

testWithAdmin('Missing members of imported objects are derived from the given ones (T-24)', async () => {
  const given = { weight: -2147483648, roleId: 2147483647, displayable: false, body: 'x'.repeat(350_000) }
  const moment = { releaseDate: '2026-01-31T12:00:00.5+02:00' }
  await importRecords(own.siteId, [
    { kind: 'news', id: 63, subject: 'Ça va? Über-Größe!', createDate: '2025-06-01', createBy: 3, siteId: 4711 },
    { kind: 'news', id: 64, subject: '日本', ...given, ...moment },
    { kind: 'blog', id: 65, blogName: 'Notes' },
  ])
  const { items } = (await own.call(withQuery('/news', { where: '{id:{$gte:63}}' }))).json
  expect(items).toMatchObject([
    { slug: 'ca-va-uber-gro-e', url: '/news/ca-va-uber-gro-e', releaseDate: '2025-06-01T00:00:00', lastUpdateBy: 3 },
    { slug: '64', ...given, releaseDate: '2026-01-31T10:00:00' },
  ])
  expect((await own.call('/blogs?order=-id&limit=1')).json.items).toMatchObject([{ id: 65, title: 'Notes' }])
})

testWithAdmin('An import skips bad records, and a repeated import changes nothing (T-22, T-27)', async () => {
  const more = [
    { kind: 'news', id: 60, subject: 'Sixty' },
    { kind: 'news', id: 0 },
    { kind: 'news', id: 61, colour: 'red' },
    { kind: 'news', id: 62, releaseDate: 'soon' },
    { kind: 'blog', id: 60, blogName: 5 },
    { kind: 'link', type: 'news', categoryId: 5, objectId: 60 },
    { kind: 'link', type: 'news', categoryId: 5, objectId: 4711 },
    { kind: 'link', type: 'news', categoryId: 4711, objectId: 60 },
    { kind: 'link', type: 'page', categoryId: 5, objectId: 60 },
  ]
  const outcome = await importRecords(own.siteId, more)
  expect(outcome).toMatchObject({ imported: 2, skipped: 7 })
  expect(outcome.errors.map(({ line }: { line: number }) => line)).toEqual([2, 3, 4, 5, 7, 8, 9])
  const links = [messages.record.noNews, messages.record.noCategory].map((message) => ({ message, count: 1 }))
  expect(outcome.errors.slice(4, 6)).toMatchObject(links)
  expect(await importRecords(own.siteId, more)).toEqual(outcome)
  const { json } = await own.call(withQuery('/categories/5/news', { where: '{objectId:60}' }))
  expect(json.items).toMatchObject([{ objectId: 60, displayable: 1, news: { subject: 'Sixty', enabled: true } }])
  await expect(importRecords(own.siteId, more, '--strict')).rejects.toThrow(/Line 2/)
})
