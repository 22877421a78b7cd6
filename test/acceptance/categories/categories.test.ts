import { expect } from 'vitest'
import { testWithAdmin } from '../support/admin.ts'
import { records, useLibrary, withQuery } from '../support/categories.ts'
import { expectError } from '../support/expectations.ts'

const library = useLibrary([
  ...records,
  { kind: 'link', type: 'news', categoryId: 6, objectId: 1 },
  { kind: 'link', type: 'blog', categoryId: 6, objectId: 2 },
])

testWithAdmin('The list of categories accepts all query parameters of lists (C-49)', async () => {
  const { status, json } = await library.call('/categories')
  expect(status).toBe(200)
  expect(json).toEqual({
    items: [
      { id: 5, name: 'Five' },
      { id: 6, name: 'Six' },
    ],
    totalItemsCount: 2,
    skip: 0,
    limit: 10,
  })
  const switches = { where: "{name:{$beginsWith:'s'}}", order: '-name', fields: 'name', limit: '1' }
  expect((await library.call(withQuery('/categories', switches))).json).toEqual({
    items: [{ name: 'Six' }],
    totalItemsCount: 1,
    skip: 0,
    limit: 1,
  })
  const { json: page } = await library.call('/categories?cursor=&limit=1')
  expect((await library.call(`/categories?cursor=${page.nextCursor}`)).json.items).toEqual([{ id: 6, name: 'Six' }])
  expectError(await library.call('/categories?order=objectId'), 400, 220000)
})

testWithAdmin('GET /categories/ID returns a category, or 404/220001 for an unknown id (C-49)', async () => {
  const { status, headers, json } = await library.call('/categories/5')
  expect([status, json]).toEqual([200, { id: 5, name: 'Five' }])
  expect((await library.call('/categories/5', { headers: { 'If-None-Match': headers['etag'] ?? '' } })).status).toBe(
    304,
  )
  expect((await library.call('/categories/5?fields=name&limit=x&where=[')).json).toEqual({ name: 'Five' })
  expectError(await library.call('/categories/77'), 404, 220001)
})

testWithAdmin('The categories of a news item or a blog are listed (C-52)', async () => {
  const names = async (path: string) => (await library.call(path)).json.items.map(({ name }: { name: string }) => name)
  expect(await names('/news/1/categories')).toEqual(['Five', 'Six'])
  expect(await names('/news/2/categories')).toEqual(['Five'])
  expect(await names('/news/30/categories')).toEqual([])
  expect(await names('/blogs/1/categories')).toEqual(['Five'])
  expect(await names('/blogs/2/categories')).toEqual(['Five', 'Six'])
  expect(await names('/news/1/categories?order=-name&limit=1')).toEqual(['Six'])
  expect(await names("/news/1/categories?where={name:'SIX'}".replace(/[{}]/g, encodeURIComponent))).toEqual(['Six'])
  expect((await library.call('/news/1/categories?limit=1&skip=1')).json).toEqual({
    items: [{ id: 6, name: 'Six' }],
    totalItemsCount: 2,
    skip: 1,
    limit: 1,
  })
  for (const path of ['/news/99/categories', '/blogs/5/categories', '/news/abc/categories']) {
    expectError(await library.call(path), 404, 220002)
  }
})
