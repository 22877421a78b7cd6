import { expect, test } from 'vitest'
import { target } from '../setup/target.ts'
import { createSite, issueToken, testWithAdmin } from '../support/admin.ts'
import { at, range, records, useLibrary, withQuery } from '../support/categories.ts'
import { expectError } from '../support/expectations.ts'
import { ownSiteId } from '../support/forms.ts'
import { call } from '../support/http.ts'

const library = useLibrary(records)
const list = (path: string, switches: Readonly<Record<string, string>> = {}) => library.call(withQuery(path, switches))
const ids = async (path: string, switches: Readonly<Record<string, string>> = {}) =>
  (await list(path, switches)).json.items.map(({ id }: { id: number }) => id)

testWithAdmin('The list contains all objects, linked or not (C-50)', async () => {
  const { status, json } = await list('/news')
  expect(status).toBe(200)
  expect(Object.keys(json)).toEqual(['items', 'totalItemsCount', 'skip', 'limit'])
  expect(json).toMatchObject({ totalItemsCount: 30, skip: 0, limit: 10 })
  expect(await ids('/news', { limit: '500' })).toEqual(range(1, 30))
  expect(await ids('/blogs')).toEqual([1, 2, 3, 4])
  expect(await ids('/news', { skip: '28' })).toEqual([29, 30])
  expect((await list('/news', { skip: '99' })).json).toMatchObject({ items: [], totalItemsCount: 30 })
})

testWithAdmin.each([
  ['news', 'news'],
  ['blogs', 'blog'],
])('Objects have the same members as in the list of a category: %s (C-50)', async (segment, object) => {
  const all = (await list(`/${segment}`, { limit: '3' })).json.items
  const linked = (await list(`/categories/5/${segment}`, { limit: '3' })).json.items
  expect(all).toEqual(linked.map((item: Record<string, unknown>) => item[object]))
  expect(Object.keys(all[0])).toEqual(Object.keys(linked[0][object]))
})

testWithAdmin('The list of all objects accepts the query parameters of other lists (C-50)', async () => {
  const where = "{subject:{$beginsWith:'EVEN'},releaseDate:{$gte:'2026-01-20'}}"
  expectError(await list('/news', { order: 'body' }), 400, 220000)
  expect(await ids('/news', { where, order: '-releaseDate', limit: '2' })).toEqual([30, 28])
  expect((await list('/news', { where, fields: 'id, subject,colour', limit: '1' })).json).toEqual({
    items: [{ id: 20, subject: 'even 20' }],
    totalItemsCount: 6,
    skip: 0,
    limit: 1,
  })
  expect(await ids('/blogs', { where: '{postCount:{$in:[20,"40"]}}', order: '-id' })).toEqual([4, 2])
  expect((await list('/blogs', { limit: '501' })).json.limit).toBe(500)
  expect((await list('/news', { limit: 'undefined' })).json.limit).toBe(10)
})

testWithAdmin('A cursor of the list of all objects is refused by every other list (C-16, C-18)', async () => {
  const where = '{roleId:{$ne:1}}'
  const { nextCursor: filtered } = (await list('/news', { cursor: '', limit: '7', where })).json
  expect(await ids('/news', { cursor: filtered, limit: '2', where })).toEqual([12, 14])
  const { nextCursor } = (await list('/news', { cursor: '', limit: '1' })).json
  expectError(await list('/blogs', { cursor: nextCursor }), 400, 220000)
  expectError(await list('/categories/5/news', { cursor: nextCursor }), 400, 220000)
})

testWithAdmin('A site lists only its own objects (C-50)', async () => {
  const empty = await createSite('Empty')
  const token = await issueToken([empty])
  const { json } = await call(at(empty, '/news'), { token })
  expect(json).toEqual({ items: [], totalItemsCount: 0, skip: 0, limit: 10 })
})

test('A site has one address, in a list with the usual query parameters (C-51)', async () => {
  const { status, json } = await call(at('current', '/siteurls'))
  expect(status).toBe(200)
  const siteId = await ownSiteId()
  const item = { siteId, url: target.baseUrl }
  expect(json).toEqual({ items: [item], totalItemsCount: 1, skip: 0, limit: 10 })
  const list = async (switches: Readonly<Record<string, string>>) =>
    (await call(withQuery(at(siteId, '/siteurls'), switches))).json
  expect((await list({ fields: 'url', order: '-url' })).items).toEqual([{ url: target.baseUrl }])
  expect(await list({ where: `{siteId:{$ne:${siteId}}}` })).toMatchObject({ items: [], totalItemsCount: 0 })
  expect(await list({ skip: '1' })).toMatchObject({ items: [], totalItemsCount: 1, skip: 1 })
  expect(await list({ limit: '0' })).toMatchObject({ items: [], totalItemsCount: 1, limit: 0 })
  expect(await list({ cursor: '' })).toMatchObject({ items: [{ siteId }], totalItemsCount: null, nextCursor: null })
  expect(await list({ cursor: '', count: 'true' })).toMatchObject({ totalItemsCount: 1 })
  expectError(await call(withQuery(at(siteId, '/siteurls'), { order: 'colour' })), 400, 220000)
})
