import { expect } from 'vitest'
import { createSite, issueToken, testWithAdmin } from '../support/admin.ts'
import { at, objectIds, records, useLibrary, withQuery } from '../support/categories.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'

const library = useLibrary(records)
const news = '/categories/5/news'
const blogs = '/categories/5/blogs'
const list = (switches: Readonly<Record<string, string>> = {}, path = news) => library.call(withQuery(path, switches))

testWithAdmin('The answer has items, totalItemsCount, skip and limit (C-1, C-2)', async () => {
  const { status, headers, json } = await list()
  expect(status).toBe(200)
  expect(headers['content-type']).toMatch(/^application\/json/)
  expect(Object.keys(json)).toEqual(['items', 'totalItemsCount', 'skip', 'limit'])
  expect(json).toMatchObject({ totalItemsCount: 25, skip: 0, limit: 10 })
  expect(json.items).toHaveLength(10)
})

testWithAdmin('A news item has its 22 members (C-3, C-4, C-5, C-6)', async () => {
  const { json } = await list({ limit: '1' })
  expect(json.items).toEqual([
    {
      objectId: 1,
      categoryId: 5,
      objectType: 7,
      displayable: 1,
      siteId: library.siteId,
      news: {
        ...{ id: 1, siteId: library.siteId, roleId: 1, subject: 'Odd 1', body: '<p>Text 1</p>', templateId: 0 },
        ...{ weight: null, createBy: 0, createDate: '2025-12-24T00:00:00' },
        ...{ lastUpdateBy: 0, lastUpdateDate: '2025-12-24T00:00:00' },
        ...{ eventFromDate: '2026-01-01T12:00:00', eventToDate: '2026-01-01T12:00:00' },
        ...{ releaseDate: '2026-01-01T12:00:00', expiryDate: '9999-01-01T00:00:00' },
        ...{ enabled: true, deleted: false, displayable: true, parentId: 0 },
        ...{ urlPrefix: '/news', slug: 'odd-1', url: '/news/odd-1' },
      },
    },
  ])
})

testWithAdmin('A blog has its 20 members (C-3, C-4, C-5)', async () => {
  const { json } = await list({ limit: '1' }, blogs)
  expect(json).toMatchObject({ totalItemsCount: 3 })
  expect(json.items).toEqual([
    {
      objectId: 1,
      categoryId: 5,
      objectType: 55,
      displayable: 1,
      siteId: library.siteId,
      blog: {
        ...{ id: 1, siteId: library.siteId, roleId: 0, templateId: 0, blogName: 'Blog 1', blogDescription: '' },
        ...{ title: 'Blog 1', allowRSS: true, rssChannelId: 0, postCount: 10, weight: null },
        lastPostDate: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/),
        ...{ releaseDate: expect.any(String), expiryDate: '9999-01-01T00:00:00' },
        ...{ createDate: expect.any(String), lastUpdateDate: expect.any(String) },
        ...{ enabled: true, disableComments: false, slug: null, blogUrl: null },
      },
    },
  ])
})

testWithAdmin('The list contains deleted objects, with deleted: true (C-7)', async () => {
  const { json } = await list({ skip: '3', limit: '1' })
  expect(json.items[0]).toMatchObject({ objectId: 4, news: { deleted: true } })
  expect(objectIds(await list({ where: '{deleted:true}' }))).toEqual([4])
})

const strangers = ['77/news', '77/blogs', '0/news', 'abc/news', '05/news', '99999999999/news']
testWithAdmin.each(strangers)('The list at /categories/%s does not exist: 404/220001 (C-8, E-25)', async (path) => {
  expectError(await library.call(`/categories/${path}`), 404, 220001)
})

testWithAdmin('A list is in JSON, whatever Accept asks for (A-6)', async () => {
  for (const accept of ['application/xml', 'image/png', 'application/json;q=0']) {
    const { status, json } = await library.call(news, { headers: { Accept: accept } })
    expect(status).toBe(200)
    expect(json.totalItemsCount).toBe(25)
  }
})

testWithAdmin('A list has an ETag, and a caller who sends this ETag gets 304', async () => {
  const first = await list()
  const etag = first.headers['etag'] ?? ''
  expect(etag).toMatch(/^"[^"]+"$/)
  const again = await library.call(news, { headers: { 'If-None-Match': etag } })
  expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', etag])
  expect(await library.call(news, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
  const other = await library.call(withQuery(news, { limit: '3' }), { headers: { 'If-None-Match': etag } })
  expect(other.status).toBe(200)
})

testWithAdmin('Without the new engine, categories are refused with 403/109002 (A-20, E-19)', async () => {
  const id = await createSite('Old', '--no-rendering-engine')
  const token = await issueToken([id])
  for (const method of ['GET', 'POST', 'DELETE']) {
    const options = { token, method, ...(method !== 'GET' && { body: '{', headers: { 'Content-Type': 'text/plain' } }) }
    expectError(await call(at('current', '/categories/77/news?limit=abc'), options), 403, 109002)
  }
  for (const path of ['/news', '/blogs', '/siteurls', '/categories']) {
    expectError(await call(at(id, path), { token }), 403, 109002)
  }
  expectError(await call(at('current', '/categories/77/news'), { token: null }), 401, 101000)
  expectError(await call(at(4711, '/categories/77/news'), { token }), 400, 100002)
})
