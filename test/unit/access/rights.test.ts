import { expect, test } from 'vitest'
import { foldersBelow, parseRight, textOfRight } from '../../../lib/core/rights.ts'

const rights = (...texts: readonly string[]) =>
  texts.map((text) => parseRight(text)).filter((right) => right !== undefined)
const right = (text: string) => {
  const [parsed] = rights(text)
  if (!parsed) throw new Error(`${text} is not a right`)
  return parsed
}

test.each([
  ['forms:read', 'forms:read'],
  ['files:write:/news', 'files:write:/news'],
  ['files:write://news//2026/', 'files:write:/news/2026'],
  ['files:read:/', 'files:read'],
  ['files:read:/cafe\u0301', 'files:read:/caf\u00e9'],
  ['files:read:/a:b', 'files:read:/a:b'],
])('the right %s has the normal form %s (A-32, A-33)', (text, normal) => {
  expect(textOfRight(right(text))).toBe(normal)
})

test.each([
  ...['', 'files', 'files:own', 'lists:read', 'Files:read', ' files:read', 'files:read '],
  ...['files:read:news', 'files:read:', 'forms:read:/a', 'files:read:/a/../b', 'files:read:/.', 'files:read:/a\nb'],
])('the text "%s" is not a right (A-33)', (text) => expect(parseRight(text)).toBeUndefined())

test('The topmost folders with a right are listed, without inner folders (A-43)', () => {
  const held = rights('files:write:/a/b', 'files:read:/a/b/c', 'files:read:/a/b', 'files:read:/x/a', 'files:read:/ab')
  expect(foldersBelow(held, right('files:read:/a'))).toEqual(['a/b'])
  expect(foldersBelow(held, right('files:read'))).toEqual(['a/b', 'x/a', 'ab'])
  expect(foldersBelow(held, right('files:write'))).toEqual(['a/b'])
  expect(foldersBelow(held, right('files:read:/a/b'))).toEqual(['a/b/c'])
  expect(foldersBelow(rights('files:write'), right('files:read:/a'))).toEqual([])
})
