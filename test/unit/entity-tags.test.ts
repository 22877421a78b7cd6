import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isStronglyIn, matches, readTags } from '../../lib/core/entity-tags.ts'

const strong = (tag: string) => ({ tag, isWeak: false })
const weak = (tag: string) => ({ tag, isWeak: true })

describe('a list of entity tags', () => {
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
    '',
    ' ',
    ',',
    'a',
    '"a',
    'a"',
    '"a" "b"',
    '"a""b"',
    'w/"a"',
    'W/ "a"',
    'W/',
    '*, "a"',
    '"a", *',
    '**',
    '"a b"',
    '"a\tb"',
    '"a\x7f"',
    '"a";q=1',
    "'a'",
    `"a"${' '.repeat(10_000)}x`,
  ])('the list %j is malformed', (header) => {
    expect(readTags(header)).toBeUndefined()
  })

  test('a list has at most 100 tags', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `"${index}"`).join(', ')
    expect(readTags(many(100))).toHaveLength(100)
    expect(readTags(many(101))).toBeUndefined()
  })

  test('a list of tags that is written can be read back', () => {
    const character = fc.constantFrom(...'!#,\\abcABC019~*/W')
    const tag = fc.record({ tag: fc.string({ unit: character, maxLength: 9 }), isWeak: fc.boolean() })
    fc.assert(
      fc.property(fc.array(tag, { minLength: 1, maxLength: 9 }), fc.constantFrom(',', ', ', ' ,\t'), (tags, comma) => {
        const header = tags.map(({ tag, isWeak }) => `${isWeak ? 'W/' : ''}"${tag}"`).join(comma)
        expect(readTags(header)).toEqual(tags)
      }),
    )
  })

  test('a tag of a file is valid for every media type of that version', () => {
    const tags = [strong('a.typed'), weak('b.typed')]
    expect(['a', 'b', 'c'].map((version) => matches(version, tags, isStronglyIn))).toEqual([true, false, false])
  })
})
