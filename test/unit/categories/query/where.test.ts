import { describe, expect, test } from 'vitest'
import { associationShape, type Item } from '../../../../lib/categories/query/item-shape.ts'
import { deepestWhere, longestWhere, mostConditions, parseWhere } from '../../../../lib/categories/query/where.ts'

const shape = associationShape('news')
const item: Item = {
  objectId: 12,
  categoryId: 5,
  objectType: 7,
  displayable: 1,
  siteId: 1001,
  news: {
    id: 12,
    subject: "It's SUMMER",
    weight: null,
    releaseDate: '2026-01-31T12:00:00',
    enabled: true,
    displayable: false,
  },
}
const matches = (where: string) => parseWhere(where, shape).matches(item)

describe('a condition', () => {
  test.each([
    ['nothing at all', '{}'],
    ['single quotes and unquoted keys', "{subject: 'it\\'s summer'}"],
    ['strings without case', '{"subject":"IT\'S summer"}'],
    ['a number in a string', '{"objectId":"12"}'],
    ['a number for a string', '{"subject":{"$ne":12}}'],
    ['a dotted name', '{"news.subject":{"$beginsWith":"it"}}'],
    ['a bare name of the object', '{"subject":{"$contains":"summ"}}'],
    ['the own member when the object has one of the same name', '{"displayable":1}'],
    ['true for 1', '{"displayable":true}'],
    ["the object's member by its dotted name", '{"news.displayable":false}'],
    ['a boolean as a word or a number', '{"enabled":"true","news.enabled":1}'],
    ['a day', '{"releaseDate":{"$gt":"2026-01-31","$lt":"2026-02-01"}}'],
    ['a moment, with and without a zone', '{"releaseDate":"2026-01-31T12:00:00Z"}'],
    ['a moment in another zone', '{"releaseDate":{"$eq":"2026-01-31T14:00:00+02:00"}}'],
    ['a moment without seconds', '{"releaseDate":"2026-01-31 12:00"}'],
    ['fractions of a second', '{"releaseDate":{"$lt":"2026-01-31T12:00:00.5"}}'],
    ['the start of a date as it is shown', '{"releaseDate":{"$beginsWith":"2026-01"}}'],
    ['null', '{"weight":null}'],
    ['null among others', '{"weight":{"$in":[1,null]}}'],
    ['what is not null', '{"subject":{"$ne":null}}'],
    ['null as different from a value', '{"weight":{"$ne":5}}'],
    ['null as none of some values', '{"weight":{"$nin":[5]}}'],
    ['several keys as AND', '{"objectId":12,"siteId":1001}'],
    ['several operators as AND', '{"objectId":{"$gt":11,"$lt":13}}'],
    ['one of several branches', '{"$or":[{"objectId":1},{"objectId":12}]}'],
    ['all of several branches', '{"$and":[{"objectId":{"$gte":12}},{"objectId":{"$lte":12}}]}'],
  ])('accepts %s', (_, where) => {
    expect(matches(where)).toBe(true)
  })

  test.each([
    ['a comparison of null', '{"weight":{"$lt":5}}'],
    ['a comparison of null, the other way', '{"weight":{"$gte":-5}}'],
    ['a comparison with null', '{"objectId":{"$gt":null}}'],
    ['a search in null', '{"weight":{"$contains":""}}'],
    ['a search for null', '{"subject":{"$contains":null}}'],
    ['a day when the hour differs', '{"releaseDate":"2026-01-31"}'],
    ['one of no values', '{"objectId":{"$in":[]}}'],
  ])('does not match %s', (_, where) => {
    expect(matches(where)).toBe(false)
  })

  test('without members matches everything', () => {
    expect(matches('{"$or":[{},{}]}')).toBe(true)
  })

  test('takes regular expression characters literally', () => {
    expect(matches('{"subject":{"$contains":".*"}}')).toBe(false)
    expect(matches('{"subject":{"$beginsWith":"(a+)+$"}}')).toBe(false)
  })
})

const groups = (depth: number) => `${'{$and:['.repeat(depth)}{}${']}'.repeat(depth)}`
const conditions = (count: number) => `{$or:[${'{id:1},'.repeat(count)}]}`

describe('a condition is refused with its fault,', () => {
  test.each([
    ['that is no JSON', '{"a":', 'is not well-formed JSON: invalid end of input at 1:6'],
    ['that goes wrong later', '{\n  subject: }', "is not well-formed JSON: invalid character '}' at 2:12"],
    ['that is no object', '[1]', 'it must be an object'],
    ['that is null', 'null', 'it must be an object'],
    ['with an unknown member', '{"sbject":1}', '"sbject" is no member: GET /docs lists them'],
    ['with a member of every object', '{"constructor":1}', '"constructor" is no member: GET /docs lists them'],
    ['with a prototype for a member', '{"__proto__":1}', '"__proto__" is no member: GET /docs lists them'],
    ['with the object itself', '{"news":{"subject":"a"}}', '"news" is no member: GET /docs lists them'],
    ['with a member of the category', '{"category.name":"a"}', '"category.name" is no member: GET /docs lists them'],
    ['with a very long name', `{"${'x'.repeat(100)}":1}`, `"${'x'.repeat(40)}…" is no member: GET /docs lists them`],
    ['on the long text', '{"body":"a"}', 'news.body cannot be compared'],
    ['with an unknown operator', '{"id":{"$regex":"a"}}', '"$regex" on news.id is not an operator'],
    ['with an unknown operator on top', '{"$where":"1"}', '"$where" is not an operator'],
    ['with a word for an operator', '{"id":{"gt":1}}', '"gt" on news.id is not an operator'],
    ['with an operator that every object has', '{"id":{"toString":1}}', '"toString" on news.id is not an operator'],
    ['with no operator', '{"id":{}}', 'news.id needs a value or an operator'],
    ['with an array for a value', '{"id":[1]}', 'news.id is compared with an array: use $in'],
    ['with text for a number', '{"id":"one"}', '$eq on news.id takes a number, not "\\"one\\""'],
    ['with a number that is none', '{"id":{"$lt":NaN}}', '$lt on news.id takes a number, not "null"'],
    ['with an object for an operand', '{"subject":{"$eq":{}}}', '$eq on news.subject takes a string, not "{}"'],
    ['with a date that is none', '{"releaseDate":"2026-02-30"}', expect.stringMatching(/takes a date such as/)],
    ['with a number for a date', '{"releaseDate":5}', expect.stringMatching(/takes a date such as/)],
    ['with a number for a boolean', '{"enabled":2}', '$eq on news.enabled takes true or false, not "2"'],
    ['with one value for a list', '{"id":{"$in":1}}', '$in on news.id takes an array'],
    ['with a wrong value in a list', '{"id":{"$nin":[1,[]]}}', '$nin on news.id takes a number, not "[]"'],
    ['with a search for no text', '{"subject":{"$contains":true}}', '$contains on news.subject takes a string'],
    ['with branches that are none', '{"$or":{}}', '$or takes an array of objects'],
    ['with no branches', '{"$and":[]}', '$and takes an array of objects'],
    ['with a branch that is no object', '{"$or":[1]}', 'an entry of $or must be an object'],
    ['that nests deeper than 8 levels', groups(deepestWhere + 1), 'nests deeper than 8 levels'],
    ['with more than 100 conditions', conditions(mostConditions + 1), 'has more than 100 conditions'],
    [
      'longer than 4,096 characters',
      `{id:1${' '.repeat(longestWhere)}}`,
      'is 4102 characters long; at most 4096 are allowed',
    ],
  ])('%s', (_, where, message) => {
    expect(() => matches(where)).toThrow(expect.objectContaining({ name: 'QueryFault', message }))
  })

  test.each([
    ['{$and:[', ']}'],
    ['{$or:[', ']}'],
    ['[', ']'],
    ['{a:', '}'],
    ['{id:{$eq:', '}}'],
  ])('that nests 1,000 levels of %s', (open, close) => {
    expect(() => matches(open.repeat(1_000) + close.repeat(1_000))).toThrow(
      expect.objectContaining({ name: 'QueryFault' }),
    )
    expect(() => matches(open.repeat(400))).toThrow(expect.objectContaining({ name: 'QueryFault' }))
  })
})

test('the bounds themselves are allowed', () => {
  expect(matches(groups(deepestWhere))).toBe(true)
  expect(matches(conditions(mostConditions))).toBe(false)
  expect(matches(`{objectId:12${' '.repeat(longestWhere - 13)}}`)).toBe(true)
})
