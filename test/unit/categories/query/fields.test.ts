import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseFields, standardFields } from '../../../../lib/categories/query/fields.ts'
import { associationShape, type Item } from '../../../../lib/categories/query/item-shape.ts'

const shape = associationShape('news')
const own = { objectId: 12, categoryId: 5, objectType: 7, displayable: 1, siteId: 1001 }
const news = { id: 12, subject: 'Summer', body: '<p>', slug: 'summer' }
const category = { id: 5, name: 'News' }
const item: Item = { ...own, news, category }
const select = (fields: string) => parseFields(fields, shape).select(item)

describe('fields', () => {
  test.each([
    ['own members', 'objectId,siteId', { objectId: 12, siteId: 1001 }],
    ['blanks', ' objectId , news( subject , slug ) ', { objectId: 12, news: { subject: 'Summer', slug: 'summer' } }],
    ['the whole object', 'news', { news }],
    ['the object narrowed by parentheses', 'news(subject,slug)', { news: { subject: 'Summer', slug: 'summer' } }],
    ['the object narrowed by dots', 'news.slug,news.subject', { news: { subject: 'Summer', slug: 'summer' } }],
    ['both ways at once', 'news(slug),news.id', { news: { id: 12, slug: 'summer' } }],
    ['the whole object and parts of it', 'news,news.slug', { news }],
    ['parts of the object and the whole of it', 'news(slug),news', { news }],
    ['the category', 'category', { category }],
    ['a part of the category', 'objectId,category.name', { objectId: 12, category: { name: 'News' } }],
    [
      'unknown names among known ones',
      'objectId,nonsense,news(subject,nonsense)',
      { objectId: 12, news: { subject: 'Summer' } },
    ],
    ['a name twice', 'objectId,objectId', { objectId: 12 }],
    ['a parenthesis that is never closed', 'objectId,news(subject', { objectId: 12, news }],
  ])('accepts %s', (_, fields, expected) => {
    expect(select(fields)).toEqual(expected)
  })

  test.each([
    'nonsense',
    ',',
    '()',
    'news()',
    'news(nonsense)',
    'news.nonsense',
    'constructor',
    '__proto__',
    'news(toString)',
    'subject',
  ])('ignores a list without known members: %s', (fields) => {
    expect(select(fields)).toEqual({ ...own, news })
  })

  test('keeps the order of the contract', () => {
    expect(Object.keys(select('news,siteId,objectId'))).toEqual(['objectId', 'siteId', 'news'])
  })

  test('shows everything except the category without a list', () => {
    expect(standardFields(shape).select(item)).toEqual({ ...own, news })
  })

  test('shows whether it includes the long text', () => {
    const shows = (fields: string) => parseFields(fields, shape).shows('news', 'body')
    expect(standardFields(shape).shows('news', 'body')).toBe(true)
    expect([shows('news'), shows('news.body'), shows('news(id,body)')]).toEqual([true, true, true])
    expect([shows('objectId'), shows('news.subject'), shows('category')]).toEqual([false, false, false])
  })

  test('never fails, and never shows members that the item does not have', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('news', '(', ')', ',', '.', 'objectId', 'body', 'x', ' ') }),
        (text) => {
          for (const [name, value] of Object.entries(select(text))) {
            expect(Object.keys(item)).toContain(name)
            if (typeof value === 'object') expect(item[name]).toMatchObject(value ?? {})
          }
        },
      ),
    )
  })
})
