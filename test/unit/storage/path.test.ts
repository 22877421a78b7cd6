import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../lib/core/errors.ts'
import {
  ancestorsOf,
  childOf,
  encodePath,
  nameOf,
  parentOf,
  parseFileName,
  parseName,
  parsePath,
  type StoragePath,
  segmentsOf,
} from '../../../lib/storage/path.ts'
import { timesToTry } from '../../support/each-call.ts'
import { hostilePath as hostile } from '../../support/hostile-path.ts'

const codeOf = (run: () => unknown): number | undefined => {
  try {
    run()
    return undefined
  } catch (error) {
    if (error instanceof ServiceError) return error.code
    throw error
  }
}

/** The rules for any parsed path. */
const obeysTheRules = (path: StoragePath) => {
  expect(path.normalize('NFC')).toBe(path)
  expect(Buffer.byteLength(path)).toBeLessThanOrEqual(900)
  for (const segment of segmentsOf(path)) {
    expect(['', '.', '..']).not.toContain(segment)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about them
    expect(segment).not.toMatch(/[\u0000-\u001f\u007f-\u009f\\/]/)
    expect(Buffer.byteLength(segment)).toBeLessThanOrEqual(255)
  }
}

describe('a path from outside', () => {
  it('follows every rule or is refused', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        let path: StoragePath
        try {
          path = parsePath(text)
        } catch (error) {
          expect(error).toBeInstanceOf(ServiceError)
          expect([104015, 104028]).toContain((error as ServiceError).code)
          return
        }
        obeysTheRules(path)
      }),
      { numRuns: timesToTry(10_000) },
    )
  })

  it('survives a round trip through its URL', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        fc.pre(codeOf(() => parsePath(text)) === undefined)
        const path = parsePath(text)
        expect(parsePath(encodePath(path))).toBe(path)
        expect(parsePath(`//${encodePath(path).replaceAll('/', '%2F/')}/`)).toBe(path)
      }),
      { numRuns: timesToTry(2_000) },
    )
  })

  it.each([
    ['a/b.txt', 'a/b.txt'],
    ['a/b/', 'a/b'],
    ['', ''],
    ['a%2Fb', 'a/b'],
    ['a%2fb%2F', 'a/b'],
    ['a//b', 'a/b'],
    ['/a', 'a'],
    ['//a///b//', 'a/b'],
    ['%2Fa%2f/b', 'a/b'],
    ['/', ''],
    ['%2F//', ''],
    [`${'/'.repeat(900)}a`, 'a'],
    ['%252e%252e%252f', '%2e%2e%2f'],
    ['100%25', '100%'],
    ['a+b', 'a+b'],
    ['%26%23%27%22', '&#\'"'],
    ['e%CC%81', '\u00e9'],
    ['%F0%9F%98%80', '😀'],
    ['...', '...'],
    ['.htaccess', '.htaccess'],
    ['%E3%80%80a%C2%A0', '\u3000a\u00a0'],
  ])('%s is read as %s', (text, path) => {
    expect(parsePath(text)).toBe(path)
  })

  it.each([
    '..',
    'a/../b',
    'a/./b',
    '%2e%2e/x',
    '%2e%2e%2fx',
    '//..',
    '/.//a',
    'a%00',
    'a%0a',
    'a%5cb',
    'a\\b',
    '%c0%ae',
    '%ff',
    '%',
    'a%7f',
    'a%C2%85',
    `${'a/'.repeat(450)}ab`,
  ])('%s is refused with 104015', (text) => {
    expect(codeOf(() => parsePath(text))).toBe(104015)
  })

  it('may have names of up to 255 bytes', () => {
    expect(codeOf(() => parsePath(`${'ä'.repeat(127)}a`))).toBeUndefined()
    expect(codeOf(() => parsePath('ä'.repeat(128)))).toBe(104028)
  })

  it('may have 900 bytes', () => {
    expect(codeOf(() => parsePath(`${'a/'.repeat(449)}ab`))).toBeUndefined()
    expect(codeOf(() => parsePath(`${'a/'.repeat(449)}abc`))).toBe(104015)
  })
})

describe('the name of an uploaded file', () => {
  it.each([
    ['C:\\fakepath\\photo.jpg', 'photo.jpg'],
    ['../../etc/passwd', 'passwd'],
    ['a/b\\c', 'c'],
    ['日本語.html', '日本語.html'],
  ])('%s counts as %s', (text, name) => {
    expect(parseFileName(text)).toBe(name)
  })

  it.each([
    ['', 104014],
    ['folder/', 104014],
    ['a\\', 104014],
    ['..', 104015],
    ['a\u0000b', 104015],
    ['x'.repeat(256), 104028],
  ])('%j is refused with %i', (text, code) => {
    expect(codeOf(() => parseFileName(text))).toBe(code)
  })

  it('is found as fast after a long path as after a short one', () => {
    for (const slash of ['/', '\\']) expect(parseFileName(`${'x'.repeat(200_000)}${slash}a`)).toBe('a')
  })

  it('never leads out of its folder', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        fc.pre(codeOf(() => parseFileName(text)) === undefined)
        const folder = parsePath('some/folder')
        const path = childOf(folder, parseFileName(text))
        obeysTheRules(path)
        expect(parentOf(path)).toBe(folder)
      }),
      { numRuns: timesToTry(5_000) },
    )
  })
})

describe('a new name', () => {
  it('is one segment', () => {
    expect(codeOf(() => parseName('a/b'))).toBe(104015)
    expect(parseName('a%2Fb')).toBe('a%2Fb')
  })
})

describe('the parts of a path', () => {
  it('are its name, its parent and its ancestors', () => {
    const path = parsePath('a/b/c.txt')
    expect([nameOf(path), parentOf(path), ancestorsOf(path)]).toEqual(['c.txt', 'a/b', ['a', 'a/b']])
    expect([nameOf(parsePath('x')), parentOf(parsePath('x')), ancestorsOf(parsePath('x'))]).toEqual(['x', '', []])
  })
})
