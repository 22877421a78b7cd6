import { expect, test } from 'vitest'
import { linkBody, unlinkBody } from '../../../lib/contract/categories/items-body.ts'

const problems = (body: typeof linkBody | typeof unlinkBody, value: unknown) =>
  body.safeParse(value).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)

test('items to link are read with their flag', () => {
  const items = [{ objectId: 1 }, { objectId: '2', displayable: 0 }, { objectId: 3, displayable: '1' }]
  expect(linkBody.parse({ items }).items).toEqual([
    { objectId: 1 },
    { objectId: 2, displayable: false },
    { objectId: 3, displayable: true },
  ])
})

test.each([
  [[{ objectId: 1 }, { objectId: '2' }]],
  [[1, 2]],
  [['1', '2']],
  ['[{objectId:1},{objectId:2}]'],
  ['[1,2]'],
  [' [ "1", 2, ] '],
])('items to unlink are read in every form: %j', (items) => {
  expect(unlinkBody.parse({ items }).items).toEqual([{ objectId: 1 }, { objectId: 2 }])
})

test.each([['1'], [1], ['{objectId:1}'], [{ objectId: 1 }]])('a single item to unlink needs no list: %j', (items) => {
  expect(unlinkBody.parse({ items }).items).toEqual([{ objectId: 1 }])
})

test.each([
  ['', 'items: is not well-formed JSON: invalid end of input at 1:1'],
  ['[1', 'items: is not well-formed JSON: invalid end of input at 1:3'],
  ['abc', "items: is not well-formed JSON: invalid character 'a' at 1:1"],
  [[], 'items: must not be empty'],
  [undefined, 'items: must be an array of objects, each with an objectId'],
  [[null], 'items.0: must be an object with an objectId'],
  ['[[1]]', 'items.0: must be an object with an objectId'],
  ['NaN', 'items.0.objectId: must be a whole number from 1 to 2147483647'],
  ['1e3000', 'items.0.objectId: must be a whole number from 1 to 2147483647'],
  [Array.from({ length: 501 }, () => 'x'), 'items: must have 500 entries or fewer'],
])('%j is refused with the fault', (items, problem) => {
  expect(problems(unlinkBody, { items })).toEqual([problem])
})

test.each([0, -1, 2 ** 31, 1e20, 1.5, '0', '2147483648', '999999999999999', '-1', '', null, [], {}, true])(
  'an objectId of %j is refused with the expected value',
  (objectId) => {
    const problem = ['items.0.objectId: must be a whole number from 1 to 2147483647']
    expect(problems(linkBody, { items: [{ objectId }] })).toEqual(problem)
    expect(problems(unlinkBody, { items: [{ objectId }] })).toEqual(problem)
  },
)

test('endless brackets are refused, however many', () => {
  expect(problems(unlinkBody, { items: '['.repeat(60_000) })).toHaveLength(1)
  expect(problems(unlinkBody, { items: `${'['.repeat(30_000)}${']'.repeat(30_000)}` })).toHaveLength(1)
})

test('every fault of 500 items is named, and only the count of more than 500', () => {
  const items = (count: number) => ({ items: Array.from({ length: count }, () => ({ objectId: -1 })) })
  expect(problems(linkBody, items(500))).toHaveLength(500)
  expect(problems(linkBody, items(20_000))).toEqual(['items: must have 500 entries or fewer'])
})
