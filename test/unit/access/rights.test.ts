import { expect, onTestFinished, test, vi } from 'vitest'
import { matchesPassword, withPassword } from '../../../lib/access/sign-in.ts'
import { keyCreationBody } from '../../../lib/contract/access/bodies.ts'
import { foldersBelow, parseRight, textOfRight } from '../../../lib/core/rights.ts'
import { systemClock } from '../../../lib/core/time.ts'
import { validate } from '../../../lib/http/validate.ts'
import { parseName, toStoragePath } from '../../../lib/storage/path.ts'
import { testPerson } from '../../support/people.ts'

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

const passwords = { clock: systemClock, findSite: async () => undefined }
const keyWith = (right: string) => validate(keyCreationBody, { name: 'a', rights: [right] }, 'accessMalformed')

test.each<[string, (marks: string) => unknown]>([
  ['path', (marks) => toStoragePath(`a/${marks}`)],
  ['new name', parseName],
  ['folder of a right', (marks) => keyWith(`files:read:/${marks}`)],
  ['new password', (marks) => withPassword(passwords, testPerson(), marks)],
  ['password', (marks) => matchesPassword(marks, undefined)],
])('A %s of 30,000 combining marks does not stop others (A-33, A-54, S-12)', async (_, use) => {
  const normalise = vi.spyOn(String.prototype, 'normalize')
  onTestFinished(() => normalise.mockRestore())
  const normalised = async (marks: string) => {
    normalise.mockClear()
    await Promise.resolve(marks)
      .then(use)
      .catch(() => {})
    return normalise.mock.contexts.map((text) => String(text).length)
  }
  expect(await normalised('\u0301')).not.toEqual([])
  expect(Math.max(0, ...(await normalised('\u0301\u0316'.repeat(15_000))))).toBeLessThan(2_000)
})
