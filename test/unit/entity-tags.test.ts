import { expect, test } from 'vitest'
import { isStronglyIn, matches, readTags } from '../../lib/core/headers.ts'

const strong = (tag: string) => ({ tag, isWeak: false })
const weak = (tag: string) => ({ tag, isWeak: true })

test.each([
  ['*', '*'],
  [' * ', '*'],
  ['"a"', [strong('a')]],
  ['W/"a"', [weak('a')]],
  ['""', [strong('')]],
  ['"a", W/"b" ,"c"', [strong('a'), weak('b'), strong('c')]],
  ['"a,b","c\\"', [strong('a,b'), strong('c\\')]],
  [', "a",, ,"b" , ', [strong('a'), strong('b')]],
  ['"\xe4"', [strong('\xe4')]],
])('the tags of the list %s are read', (header, expected) => {
  expect(readTags(header)).toEqual(expected)
})

test.each([
  ...['', ' ', ',', 'a"', '"a""b"', 'w/"a"', 'W/ "a"', '"a", *', '**', '"a b"', '"a\tb"', '"a\x7f"', "'a'"],
  `"a"${' '.repeat(10_000)}x`,
])('the list %j is malformed', (header) => {
  expect(readTags(header)).toBeUndefined()
})

test('a tag of a file is valid for every media type of that version', () => {
  const tags = [strong('a.typed'), weak('b.typed')]
  expect(['a', 'b', 'c'].map((version) => matches(version, tags, isStronglyIn))).toEqual([true, false, false])
})
