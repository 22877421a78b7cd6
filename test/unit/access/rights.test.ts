import { describe, expect, test } from 'vitest'
import { rightsOfToken } from '../../../lib/access/callers.ts'
import { roles } from '../../../lib/access/roles.ts'
import { areas, foldersBelow, includesRight, parseRight, simplified, textOfRight } from '../../../lib/core/rights.ts'

const rights = (...texts: readonly string[]) =>
  texts.map((text) => parseRight(text)).filter((right) => right !== undefined)
const right = (text: string) => {
  const [parsed] = rights(text)
  if (!parsed) throw new Error(`${text} is not a right`)
  return parsed
}
const includes = (held: string, needed: string) => includesRight(rights(held), right(needed))

describe('a right', () => {
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

  test.each(['', 'files', 'files:own', 'lists:read', 'Files:read', ' files:read', 'files:read '])(
    'the text "%s" is not a right',
    (text) => expect(parseRight(text)).toBeUndefined(),
  )

  test.each([
    'files:read:news',
    'files:read:',
    'forms:read:/a',
    'files:read:/a/../b',
    'files:read:/.',
    'files:read:/a\nb',
  ])('the right "%s" is refused because of its folder (A-33)', (text) => expect(parseRight(text)).toBeUndefined())

  test.each([
    ['files:write', 'includes', 'files:read'],
    ['files:read', 'does not include', 'files:write'],
    ['forms:write', 'does not include', 'files:read'],
    ['files:read', 'includes', 'files:read:/news/a'],
    ['files:read:/news', 'does not include', 'files:read'],
    ['files:read:/news', 'includes', 'files:read:/news'],
    ['files:read:/news', 'includes', 'files:read:/news/a/b'],
    ['files:read:/news', 'does not include', 'files:read:/newsroom'],
    ['files:read:/news', 'does not include', 'files:read:/new'],
    ['files:read:/news', 'does not include', 'files:read:/News'],
    ['files:read:/news', 'does not include', 'files:read:/a/news'],
    ['files:read:/news/a', 'does not include', 'files:read:/news'],
    ['files:write:/caf\u00e9', 'includes', 'files:read:/cafe\u0301/a'],
  ])('the right %s %s %s (A-32, A-41)', (held, verdict, needed) => {
    expect(includes(held, needed)).toBe(verdict === 'includes')
  })
})

test('The topmost folders with a right are listed, without the folders inside them (A-43)', () => {
  const held = rights('files:write:/a/b', 'files:read:/a/b/c', 'files:read:/a/b', 'files:read:/x', 'files:read:/ab')
  expect(foldersBelow(held, right('files:read:/a'))).toEqual(['a/b'])
  expect(foldersBelow(held, right('files:read'))).toEqual(['a/b', 'x', 'ab'])
  expect(foldersBelow(held, right('files:write'))).toEqual(['a/b'])
  expect(foldersBelow(held, right('files:read:/a/b'))).toEqual(['a/b/c'])
  expect(foldersBelow(rights('files:write'), right('files:read:/a'))).toEqual([])
})

test('A right that another right includes is removed from a list of rights', () => {
  const given = rights('files:read', 'files:read:/a', 'forms:write', 'forms:read', 'files:write:/b', 'files:write:/b/c')
  expect(simplified([...given, ...given]).map(textOfRight)).toEqual(['files:read', 'forms:write', 'files:write:/b'])
})

describe('the rights of a stored token', () => {
  const rightsOf = (...permissions: readonly string[]) => rightsOfToken({ permissions }).map(textOfRight)
  const usual = ['forms:write', 'categories:write', 'history:read']

  test('without rights of its own, a token has the default rights (A-38, A-39)', () => {
    expect(rightsOf()).toEqual(usual)
    expect(rightsOf('files')).toEqual(['files:write', ...usual])
    expect(rightsOf('everything')).toEqual(usual)
  })

  test('with rights of its own, a token has only these (A-38)', () => {
    expect(rightsOf('files:read:/a', 'history:read')).toEqual(['files:read:/a', 'history:read'])
    expect(rightsOf('files', 'forms:read')).toEqual(['files:write', 'forms:read'])
    expect(rightsOf('files:own', 'lists:read')).toEqual([])
  })
})

test('The roles have the rights that the rules name (A-48, A-49, A-50)', () => {
  const texts = Object.fromEntries(
    Object.entries(roles).map(([name, role]) => [name, role.rights.map(textOfRight).join(' ')]),
  )
  expect(texts).toEqual({
    owner: areas.map((area) => `${area}:write`).join(' '),
    editor: 'files:write forms:write categories:write history:read',
    author: 'files:write history:read',
    viewer: 'files:read forms:read categories:read history:read',
  })
  expect(
    Object.entries(roles)
      .filter(([, { isPerFolder }]) => isPerFolder)
      .map(([name]) => name),
  ).toEqual(['author'])
})
