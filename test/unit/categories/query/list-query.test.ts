import fc from 'fast-check'
import { expect, test } from 'vitest'
import { associationShape } from '../../../../lib/categories/query/item-shape.ts'
import { parseListQuery } from '../../../../lib/categories/query/list-query.ts'

const list = { shape: associationShape('news'), identity: [1001, 'news', 5] }
const switches = { order: 'subject', where: '{id:{$gt:1}}' }
const read = (more: Readonly<Record<string, string>>, of = list) =>
  parseListQuery(new Map(Object.entries({ ...switches, ...more })), of)
const position = { key: 12, values: ['summer'] }
const cursor = read({ cursor: '' }).cursorAfter(position)
const refusal = expect.objectContaining({ code: 220000, problems: [{ path: 'cursor', message: expect.any(String) }] })

test('a cursor continues a list at the same position, and needs no encoding in a URL', () => {
  const { paging } = read({ cursor, limit: '50', fields: 'objectId', count: 'true' })
  expect(paging).toEqual({ by: 'cursor', after: position, count: true })
  expect(cursor).toMatch(/^[\w-]+$/)
})

test('a cursor of another site is refused', () => {
  expect(() => read({ cursor }, { ...list, identity: [1002, 'news', 5] })).toThrow(refusal)
})

const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const [hash] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string]
test.each([{}, [hash, 'x', 'y'], [hash, 1], [hash, 1, {}], [hash, 1.5, 'a']])(
  'the forged cursor %j is refused',
  (value) => {
    expect(() => read({ cursor: forged(value) })).toThrow(refusal)
  },
)

test('any text that is not a cursor is refused', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }).filter((text) => text !== 'undefined'),
      (text) => {
        expect(() => read({ cursor: text })).toThrow(refusal)
      },
    ),
  )
})
