import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { associationShape } from '../../../../lib/categories/query/item-shape.ts'
import { largestLimit, parseListQuery } from '../../../../lib/categories/query/list-query.ts'

const list = { shape: associationShape('news'), identity: [1001, 'news', 5] }
const read = (switches: Readonly<Record<string, string>>, of = list) =>
  parseListQuery(new Map(Object.entries(switches)), of)
const problems = (switches: Readonly<Record<string, string>>, of = list) => {
  try {
    read(switches, of)
  } catch (error) {
    return error
  }
  return undefined
}
const refusal = (path: string, message: unknown) =>
  expect.objectContaining({ code: 220000, status: 400, problems: [{ path, message }] })

describe('paging', () => {
  test.each([
    ['0', 0],
    ['500', 500],
    ['501', largestLimit],
    ['99999999', largestLimit],
    [' 7 ', 7],
  ])('limit %s is %i', (limit, expected) => {
    expect(read({ limit }).limit).toBe(expected)
  })

  test.each(['skip', 'limit'])('%s is a whole number, 0 or more', (name) => {
    for (const value of ['-1', 'abc', '1.5', '1e3', '0x1', 'null', '١', '5 6', '']) {
      if (value === '') expect(problems({ [name]: value })).toBeUndefined()
      else expect(problems({ [name]: value })).toEqual(refusal(name, 'must be a whole number, 0 or more'))
    }
    expect(problems({ [name]: '9'.repeat(400) })).toEqual(refusal(name, expect.stringMatching(/or less$/)))
  })
})

test('all faults are reported together', () => {
  expect(problems({ where: '{', order: 'nonsense', skip: '-1', limit: 'abc' })).toMatchObject({
    code: 220000,
    problems: [{ path: 'where' }, { path: 'order' }, { path: 'skip' }, { path: 'limit' }],
  })
})

describe('order', () => {
  test.each([
    ['releaseDate', 'releaseDate'],
    ['-releaseDate, subject', '-releaseDate,subject'],
    ['news.subject', 'subject'],
    ['subject,-subject', 'subject'],
    ['subject,objectId,slug', 'subject'],
    ['-objectId,subject', '-objectId'],
    ['objectId', ''],
    ['subject,', 'subject'],
    [',', ''],
    ['displayable,news.displayable', 'displayable,news.displayable'],
  ])('%s sorts by %s', (order, members) => {
    const text = read({ order }).order.text
    expect(text.replaceAll('news.', '')).toBe(members.replaceAll('news.', ''))
  })

  test.each([
    ['nonsense', '"nonsense" is no member: GET /docs lists them'],
    ['subject desc', '"subject desc" is no member: GET /docs lists them'],
    ['-', '"" is no member: GET /docs lists them'],
    ['--subject', '"-subject" is no member: GET /docs lists them'],
    ['body', 'news.body cannot be sorted by'],
    ['-news.body', 'news.body cannot be sorted by'],
    ['__proto__', '"__proto__" is no member: GET /docs lists them'],
  ])('%s is refused', (order, message) => {
    expect(problems({ order })).toEqual(refusal('order', message))
  })
})

describe('cursor', () => {
  const switches = { order: 'subject', where: '{id:{$gt:1}}' }
  const position = { key: 12, values: ['summer'] }
  const cursor = read({ ...switches, cursor: '' }).cursorBehind(position)

  test('starts when it is empty', () => {
    expect(read({ cursor: '' }).paging).toEqual({ by: 'cursor', after: undefined, count: false })
  })

  test('continues at its position, whatever the page', () => {
    const { paging } = read({ ...switches, cursor, limit: '50', fields: 'objectId', count: 'true' })
    expect(paging).toEqual({ by: 'cursor', after: position, count: true })
  })

  test('works at the start of the list too', () => {
    const { cursorBehind } = read({ cursor: '' })
    expect(read({ cursor: cursorBehind(undefined) }).paging).toMatchObject({ after: undefined })
  })

  test('needs no encoding in a URL', () => {
    expect(cursor).toMatch(/^[\w-]+$/)
  })

  test.each([
    ['another category', {}, { ...list, identity: [1001, 'news', 6] }],
    ['another site', {}, { ...list, identity: [1002, 'news', 5] }],
    ['another kind', {}, { ...list, identity: [1001, 'blog', 5] }],
    ['another order', { order: '-subject' }, list],
    ['another where', { where: '{id:{$gt:2}}' }, list],
    ['no where', { where: '' }, list],
  ])('of %s is refused', (_, change, of) => {
    expect(problems({ ...switches, ...change, cursor }, of)).toEqual(
      refusal('cursor', 'belongs to a list with other parameters. Begin with an empty cursor'),
    )
  })

  test('that this service has not issued is refused', () => {
    const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const [hash] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string]
    const forgeries = [
      'x',
      '%%%',
      forged({}),
      forged([hash, 'x', 'y']),
      forged([hash, 1]),
      forged([hash, 1, {}]),
      forged([hash, 1.5, 'a']),
    ]
    for (const forgery of forgeries) {
      expect(problems({ ...switches, cursor: forgery })).toMatchObject({ code: 220000, problems: [{ path: 'cursor' }] })
    }
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }).filter((text) => text !== 'undefined'),
        (text) => {
          expect(problems({ ...switches, cursor: text })).toMatchObject({ code: 220000 })
        },
      ),
    )
  })

  test('cannot be combined with skip', () => {
    expect(problems({ cursor: '', skip: '1' })).toEqual(refusal('skip', 'cannot be combined with cursor'))
    expect(problems({ cursor: '', skip: '0' })).toBeUndefined()
  })
})
