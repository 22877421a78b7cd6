import { expect } from 'vitest'
import { messages } from '../../support/messages.ts'
import { testWithAdmin } from '../support/admin.ts'
import { objectIds, range, records, useLibrary, withQuery } from '../support/categories.ts'
import { expectError } from '../support/expectations.ts'

const library = useLibrary(records)
const list = (switches: Readonly<Record<string, string>> = {}, path = '/categories/5/news') =>
  library.call(withQuery(path, switches))
const idsFor = async (where: string) => objectIds(await list({ where, limit: '500' }))
const refused = async (switches: Readonly<Record<string, string>>, path: string) => {
  const answer = await list(switches)
  expectError(answer, 400, 220000)
  expect(answer.json.errors.map((problem: { path: string }) => problem.path)).toEqual([path])
  return answer.json.message as string
}

testWithAdmin('Unknown query parameters, and the value undefined, are ignored (C-9)', async () => {
  expect(objectIds(await list({ _: '1700000000000', callback: 'x', version: 'draft' }))).toEqual(range(1, 10))
  const names = ['fields', 'where', 'order', 'skip', 'limit', 'cursor']
  const { json } = await list(Object.fromEntries(names.map((name) => [name, 'undefined'])))
  expect(json).toEqual((await list()).json)
})

testWithAdmin('The answer lists every fault of the query (E-2)', async () => {
  const answer = await list({ where: '{', order: 'nonsense', skip: '-1', limit: 'abc' })
  expectError(answer, 400, 220000)
  expect(answer.json.errors.map(({ path }: { path: string }) => path)).toEqual(['where', 'order', 'skip', 'limit'])
})

testWithAdmin.each([
  ['0', 0, 0],
  ['', 10, 10],
  [' 7 ', 7, 7],
  ['500', 500, 25],
  ['501', 500, 25],
  ['9223372036854775807', 500, 25],
])('With the limit %j, the answer has the limit %i, and %i items (C-12)', async (limit, echoed, count) => {
  const { json } = await list({ limit })
  expect(json).toMatchObject({ limit: echoed, totalItemsCount: 25 })
  expect(json.items).toHaveLength(count)
})

testWithAdmin('Consecutive pages together contain the whole list (C-13)', async () => {
  const pages: number[] = []
  for (let skip = 0; skip < 28; skip += 7) pages.push(...objectIds(await list({ skip: String(skip), limit: '7' })))
  expect(pages).toEqual(range(1, 25))
})

testWithAdmin.each([
  ['25', 25],
  ['1000', 1000],
  ['9223372036854775807', Number.MAX_SAFE_INTEGER],
])('A skip of %s past the end returns no items (C-13)', async (skip, echoed) => {
  const { status, json } = await list({ skip })
  expect(status).toBe(200)
  expect(json).toEqual({ items: [], totalItemsCount: 25, skip: echoed, limit: 10 })
})

testWithAdmin('totalItemsCount counts all objects that match where (C-14)', async () => {
  const where = '{weight:{$ne:null}}'
  const { json } = await list({ where, skip: '4', limit: '1' })
  expect(json).toMatchObject({ totalItemsCount: 5, skip: 4, limit: 1, items: [{ objectId: 25 }] })
  expect((await list({ where, skip: '9' })).json).toMatchObject({ totalItemsCount: 5, items: [] })
})

const malformed = ['-1', 'abc', '1.5', '1e2', '0x10', 'null', '5 6', '١']
testWithAdmin.each(malformed)('A skip or limit of %s is refused with 220000 (C-15)', async (value) => {
  await refused({ skip: value }, 'skip')
  await refused({ limit: value }, 'limit')
})

testWithAdmin.each([
  ['-objectId', [25, 24, 23]],
  ['-releaseDate', [25, 24, 23]],
  ['releaseDate', [1, 2, 3]],
  ['news.releaseDate', [1, 2, 3]],
  ['-releaseDate,releaseDate', [25, 24, 23]],
  ['-news.releaseDate,', [25, 24, 23]],
  ['-objectId,releaseDate', [25, 24, 23]],
  [',', [1, 2, 3]],
  // Equal values are sorted by objectId.
  ['siteId', [1, 2, 3]],
  ['-siteId', [1, 2, 3]],
  // Null comes first in ascending order, and last in descending order.
  ['weight', [1, 2, 3, 4, 6]],
  ['-weight', [25, 20, 15]],
  // Strings are sorted regardless of case.
  ['subject', [10, 12, 14]],
])('The query order=%s sorts the items (C-19, C-20, C-21)', async (order, first) => {
  expect(objectIds(await list({ order, limit: String(first.length) }))).toEqual(first)
})

testWithAdmin('Items are sorted by several members, separated by commas (C-19)', async () => {
  const ids = objectIds(await list({ order: 'roleId,-releaseDate', limit: '500' }))
  const rest = (remainder: number) =>
    range(1, 25)
      .filter((id) => id % 3 === remainder)
      .reverse()
  expect(ids).toEqual([...rest(0), ...rest(1), ...rest(2)])
})

const unknownOrders = ['nonsense', '-', '--subject', 'subject desc', 'news', '__proto__', 'body', '-news.body']
testWithAdmin.each(unknownOrders)('The query order=%s is refused with 220000 (C-22, C-23)', async (order) => {
  await refused({ order }, 'order')
})

testWithAdmin('The error of an unknown member lists only members that can be named (C-22, C-23)', async () => {
  const { message } = (await list({ order: 'nonsense' })).json
  expect(message).toContain('news.subject')
  expect(message).not.toContain('news.body')
})

const first = async (fields: string) => (await list({ fields, limit: '1' })).json.items[0]

testWithAdmin.each([
  ['objectId,siteId', { objectId: 1, siteId: expect.any(Number) }],
  [' objectId , news( subject , slug ) ', { objectId: 1, news: { subject: 'Odd 1', slug: 'odd-1' } }],
  ['news.subject', { news: { subject: 'Odd 1' } }],
  ['news.body', { news: { body: '<p>Text 1</p>' } }],
  ['objectId,category', { objectId: 1, category: { id: 5, name: 'Five' } }],
  ['objectId,nonsense,news.nonsense', { objectId: 1 }],
  ['objectId,objectId,category.name', { objectId: 1, category: { name: 'Five' } }],
  ['news(slug),news.id', { news: { id: 1, slug: 'odd-1' } }],
  ['news,news.slug', { news: expect.objectContaining({ id: 1, slug: 'odd-1', url: '/news/odd-1' }) }],
  ['news(slug),news', { news: expect.objectContaining({ id: 1, slug: 'odd-1', url: '/news/odd-1' }) }],
  ['objectId,news(subject', { objectId: 1, news: expect.objectContaining({ url: '/news/odd-1' }) }],
])('With fields=%s, items have only these fields (C-24, C-25, C-26, C-27)', async (fields, expected) => {
  expect(await first(fields)).toEqual(expected)
})

const unknown = ['nonsense', 'news(nonsense)', 'news.nonsense', 'news()', 'subject', ',', ' ', '()']
testWithAdmin.each([...unknown, 'constructor', '__proto__', 'news(toString)'])(
  'With fields=%j, which are all unknown, items have the default fields (C-27)',
  async (fields) => {
    expect((await list({ fields })).json).toEqual((await list()).json)
  },
)

testWithAdmin('Fields come in the order of the contract, not of the query (C-3)', async () => {
  expect(Object.keys(await first('news,siteId,objectId'))).toEqual(['objectId', 'siteId', 'news'])
})

testWithAdmin('The query also selects fields of blogs (C-25, C-26)', async () => {
  const { json } = await list({ fields: 'blog(blogName),category.name', limit: '1' }, '/categories/5/blogs')
  expect(json.items).toEqual([{ blog: { blogName: 'Blog 1' }, category: { name: 'Five' } }])
})

const matches: readonly [where: string, expected: readonly number[]][] = [
  ['{}', range(1, 25)],
  ['{"objectId":7}', [7]],
  ['{"objectId":"7"}', [7]],
  ["{'news.subject':'ODD 7'}", [7]],
  ["{subject: 'odd 7',}", [7]],
  ['{displayable:0}', [3]],
  ["{'news.displayable':false}", []],
  ['{objectId:{$eq:7}}', [7]],
  ['{objectId:{$gt:5,$lt:8}}', [6, 7]],
  ['{objectId:{$gte:5,$lte:8}}', [5, 6, 7, 8]],
  ['{objectId:{$in:[3,"4",99]}}', [3, 4]],
  ['{objectId:{$nin:[3,4]}}', range(1, 25).filter((id) => id !== 3 && id !== 4)],
  ['{enabled:{$ne:true}}', [6]],
  ['{enabled:{$neq:true}}', [6]],
  ["{subject:{$beginsWith:'EVEN 1'}}", [10, 12, 14, 16, 18]],
  ["{subject:{$beginsWith:'ven 1'}}", []],
  ["{subject:{$contains:'n 2'}}", [2, 20, 22, 24]],
  ["{releaseDate:{$gte:'2026-01-24'}}", [24, 25]],
  ["{releaseDate:{$lte:'2026-01-02T12:00:00'}}", [1, 2]],
  ["{releaseDate:{$lt:'2026-01-01T13:00:00.000Z'}}", [1]],
  ["{releaseDate:'2026-01-09T12:00:00'}", [9]],
  ['{weight:null}', range(1, 25).filter((id) => id % 5 !== 0)],
  ['{weight:{$ne:null}}', [5, 10, 15, 20, 25]],
  ['{weight:{$lt:1}}', [5, 10]],
  ['{weight:{$lt:null}}', []],
  ['{$or:[{objectId:1},{subject:"even 2"},{objectId:3}]}', [1, 2, 3]],
  ['{$and:[{objectId:{$gt:1}},{objectId:{$lt:3}}]}', [2]],
  ['{objectId:{$gt:20},$or:[{weight:10},{weight:15}]}', [25]],
  ['{$or:[{},{}]}', range(1, 25)],
  ['{subject:{$contains:".*"}}', []],
  ['{subject:{$contains:null}}', []],
  ['{weight:{$contains:""}}', [5, 10, 15, 20, 25]],
  ['{subject:{$beginsWith:"(a+)+$"}}', []],
  ["{releaseDate:{$eq:'2026-01-09T14:00:00+02:00'}}", [9]],
  ["{releaseDate:'2026-01-09 12:00'}", [9]],
  ["{releaseDate:' 2026-01-09t12:00:00z '}", [9]],
  ["{releaseDate:'2026-01-09T06:30:00.000-0530'}", [9]],
  ["{releaseDate:'2026-01-08T23:30:00-12:30'}", [9]],
  ["{releaseDate:{$lt:'2026-01-01T12:00:00.12Z'}}", [1]],
  ["{releaseDate:{$gt:'0000-01-01',$lt:'9999-12-31T23:59:59'}}", range(1, 25)],
  ["{expiryDate:'9999-01-01',releaseDate:{$ne:'2024-02-29'}}", range(1, 25)],
  ["{releaseDate:{$beginsWith:'2026-01-2'}}", range(20, 25)],
  ["{releaseDate:{$contains:'8t12'}}", [8, 18]],
  ['{weight:{$in:[null,-5]}}', range(1, 25).filter((id) => id % 5 !== 0 || id === 5)],
  ['{weight:{$nin:[null,-5]}}', [10, 15, 20, 25]],
  ['{weight:{$ne:-5}}', range(1, 25).filter((id) => id !== 5)],
  ['{weight:{$gte:null}}', []],
  ['{weight:{$lte:"0.0"}}', [5, 10]],
  ['{enabled:0}', [6]],
  ['{enabled:{$ne:1}}', [6]],
  ['{enabled:{$nin:["true",null]}}', [6]],
  ['{enabled:{$in:["false",null]}}', [6]],
  ['{displayable:false}', [3]],
  ['{subject:{$contains:7}}', [7, 17]],
  ['{subject:{$ne:7}}', range(1, 25)],
  ["{subject:{$gt:'odd 7'}}", [9]],
  [`${'{$and:['.repeat(8)}{}${']}'.repeat(8)}`, range(1, 25)],
  [`{$or:[${'{objectId:7},'.repeat(100)}]}`, [7]],
  [`{objectId:7${' '.repeat(4096 - 12)}}`, [7]],
]
testWithAdmin.each(matches.map(([where, expected]) => ({ start: where.slice(0, 50), where, expected })))(
  'where=$start finds the matching items (C-28, C-29, C-30, C-31, C-32, C-33, C-34)',
  async ({ where, expected }) => {
    expect(await idsFor(where)).toEqual(expected)
  },
)

const refusals: readonly [where: string, message: RegExp][] = [
  ['{"subject":', /1:12/],
  ['{subject:"a" "b"}', /1:14/],
  ['{\n  subject: }', /2:12/],
  ['[]', /object/],
  ['null', /object/],
  ['{nonsense:1}', /nonsense/],
  ['{news:1}', /news/],
  ['{body:"Text"}', /body/],
  ['{constructor:1}', messages.http.noMember('constructor')],
  ['{"__proto__":1}', messages.http.noMember('__proto__')],
  ['{"category.name":"a"}', /category\.name/],
  [`{"${'x'.repeat(100)}":1}`, /"x{40}…"/],
  ['{subject:{$regex:"a"}}', /\$regex/],
  ['{objectId:{gt:1}}', messages.http.noOperator('gt', 'objectId')],
  ['{objectId:{toString:1}}', messages.http.noOperator('toString', 'objectId')],
  ['{$not:[{}]}', /\$not/],
  ['{objectId:"seven"}', /number, not "seven"$/],
  ['{objectId:{}}', /objectId/],
  ['{objectId:[1]}', /\$in/],
  ['{releaseDate:"yesterday"}', /date/],
  ...[
    ...['', '2026', '2026-1-1', '2026-02-29', '2026-13-01', '2026-00-10', '2026-01-32', '2026-01-31Z', '20260131'],
    ...['2026-01-31T24:00:00', '2026-01-31T12:60', '2026-01-31T12:00:60', '2026-01-31T12:00:00.1234567890'],
    ...['9999-12-31T23:59:59-01:00', '0000-01-01T00:00:00+01:00'],
  ].map((date): [string, RegExp] => [`{releaseDate:"${date}"}`, /date/]),
  ['{releaseDate:5}', /date/],
  ['{enabled:2}', /true or false/],
  ['{objectId:{$lt:NaN}}', /number, not "NaN"$/],
  ['{subject:{$eq:{}}}', /string/],
  ['{subject:{$contains:true}}', /string/],
  ['{objectId:{$in:1}}', /array/],
  ['{objectId:{$nin:[1,[]]}}', /number/],
  ['{$or:{}}', /\$or/],
  ['{$or:[1]}', /\$or/],
  ['{$and:[]}', /\$and/],
  [`{$or:[${'{objectId:1},'.repeat(101)}]}`, /100/],
  [`${'{$and:['.repeat(9)}{}${']}'.repeat(9)}`, /8/],
  [`${'{$and:['.repeat(1000)}`, /4096/],
  ['['.repeat(1000), /JSON/],
  ['{a:'.repeat(1000), /JSON/],
  ['{$or:['.repeat(400), /JSON/],
  ['{objectId:{$eq:'.repeat(250), /JSON/],
  [`{objectId:7${' '.repeat(4097 - 12)}}`, /4096/],
]
testWithAdmin.each(refusals.map(([where, message]) => ({ start: where.slice(0, 50), where, message })))(
  'where=$start is refused with a message that names the fault (C-23, C-35, C-36)',
  async ({ where, message }) => {
    expect(await refused({ where }, 'where')).toMatch(message)
  },
)

const walk = async (switches: Readonly<Record<string, string>>) => {
  const ids: number[] = []
  for (let cursor = ''; ; ) {
    const answer = await list({ ...switches, cursor })
    expect(answer.status).toBe(200)
    ids.push(...objectIds(answer))
    if (answer.json.nextCursor === null) return ids
    cursor = answer.json.nextCursor
  }
}

testWithAdmin('A list by cursor has nextCursor, but no skip and no total (C-16, C-17)', async () => {
  const { json } = await list({ cursor: '', limit: '3' })
  expect(Object.keys(json).sort()).toEqual(['items', 'limit', 'nextCursor', 'totalItemsCount'])
  expect(json).toMatchObject({ limit: 3, totalItemsCount: null, nextCursor: expect.stringMatching(/^[\w-]+$/) })
  for (const order of ['', 'subject']) {
    const { json: all } = await list({ cursor: '', limit: '25', order })
    expect(all).toMatchObject({ totalItemsCount: null, nextCursor: null })
  }
  await refused({ cursor: '', skip: '5' }, 'skip')
  expect((await list({ cursor: '', skip: '0' })).status).toBe(200)
})

testWithAdmin('With count=true, a list by cursor also has its total (C-17)', async () => {
  expect((await list({ cursor: '', count: 'true' })).json.totalItemsCount).toBe(25)
  expect((await list({ cursor: '', count: 'true', where: '{displayable:0}' })).json.totalItemsCount).toBe(1)
})

testWithAdmin.each([
  [{ limit: '7' }, range(1, 25)],
  [{ limit: '25' }, range(1, 25)],
  [{ limit: '4', where: '{weight:{$ne:null}}' }, [5, 10, 15, 20, 25]],
  [{ limit: '2', order: '-weight', where: '{weight:{$ne:null}}' }, [25, 20, 15, 10, 5]],
  [{ limit: '6', order: '-siteId' }, range(1, 25)],
  [{ limit: '2', order: 'weight', where: '{objectId:{$lt:7}}' }, [1, 2, 3, 4, 6, 5]],
  [{ where: '{objectId:0}' }, []],
])('With the query %o, the pages by cursor contain the whole list (C-16)', async (switches, expected) => {
  expect(await walk(switches)).toEqual(expected)
})

testWithAdmin('The next page may have another limit and other fields (C-18)', async () => {
  const { json } = await list({ cursor: '', limit: '3' })
  const { json: next } = await list({ cursor: json.nextCursor, limit: '1', fields: 'objectId' })
  expect(next.items).toEqual([{ objectId: 4 }])
})

testWithAdmin('A malformed cursor, or a cursor of another list, is refused with 220000 (C-18)', async () => {
  const { json } = await list({ cursor: '', limit: '3' })
  const { nextCursor } = json
  await refused({ cursor: 'nonsense' }, 'cursor')
  await refused({ cursor: `${nextCursor}x!` }, 'cursor')
  const [hash] = JSON.parse(Buffer.from(nextCursor, 'base64url').toString())
  const written = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  for (const forged of [{}, [hash, 'x', 'y'], [hash, 3, 1], [hash, 1.5]]) {
    await refused({ cursor: written(forged) }, 'cursor')
  }
  const sorted = (await list({ cursor: '', limit: '3', order: 'subject' })).json.nextCursor
  const [hashOfSorted] = JSON.parse(Buffer.from(sorted, 'base64url').toString())
  for (const values of [[], [{}], ['a', 'b']]) {
    await refused({ cursor: written([hashOfSorted, 3, ...values]), order: 'subject' }, 'cursor')
  }
  await refused({ cursor: nextCursor, order: '-objectId' }, 'cursor')
  await refused({ cursor: sorted, order: '-subject' }, 'cursor')
  await refused({ cursor: nextCursor, where: '{displayable:1}' }, 'cursor')
  const { nextCursor: filtered } = (await list({ cursor: '', limit: '3', where: '{displayable:1}' })).json
  await refused({ cursor: filtered }, 'cursor')
  expectError(await list({ cursor: nextCursor }, '/categories/5/blogs'), 400, 220000)
  expectError(await list({ cursor: nextCursor }, '/categories/6/news'), 400, 220000)
})
