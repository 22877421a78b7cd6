import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../lib/core/errors.ts'
import { compareText } from '../../../lib/core/names.ts'
import {
  childOf,
  encodePath,
  parentOf,
  parseFileName,
  parsePath,
  type StoragePath,
  segmentsOf,
} from '../../../lib/storage/path.ts'
import { timesToTry } from '../../support/each-call.ts'

/** Any character except lone surrogates, like `binary` of fast-check. Creating `binary` takes a second. */
const codePoint = fc
  .integer({ min: 0, max: 0x10_ffff - 0x800 })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + 0x800))

const attacks = String.raw`
  .. . / // \ %2e%2e %2E%2E%2f %252e%252e%252f %c0%ae%c0%ae/ %c0%af %00 %5c %5C.. %e2%80%ae %65%cc%81 %ff % %% %2 ..;
  ~ ＼ ／ ．． %ef%bc%8f CON + %2F %7f`
const oddCharacters = ['\u202e', '\u2066', 'e\u0301', '\u00e9', '\ufeff', '\u0000', '\ud800', '\u2028', ' ']
const longNames = ['a'.repeat(255), 'ä'.repeat(127), 'x'.repeat(256)]

const hostilePiece = fc.oneof(
  fc.constantFrom(...attacks.trim().split(/\s+/), ...oddCharacters, ...longNames),
  fc.string({ unit: codePoint, maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ maxLength: 8 }).map(encodeURIComponent),
)

/** Up to twelve pieces that can change the target of a URL or a file name. */
const hostile = fc.array(hostilePiece, { maxLength: 12 }).map((pieces) => pieces.join(''))

const codeOf = (run: () => unknown): number | undefined => {
  try {
    run()
    return undefined
  } catch (error) {
    if (error instanceof ServiceError) return error.code
    throw error
  }
}

/** Checks the rules that every parsed path follows. */
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

it('every path is refused or obeys all rules', () => {
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

it('a path that is written into a URL is read back unchanged', () => {
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

describe('the name of an uploaded file', () => {
  it('the name is found after a long path', () => {
    for (const slash of ['/', '\\']) expect(parseFileName(`${'x'.repeat(200_000)}${slash}a`)).toBe('a')
  })

  it('the name is never a path out of the folder', () => {
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

it('Texts have the order of their UTF-8 bytes, like keys in the stores', () => {
  const text = fc.string({ unit: fc.oneof(codePoint, fc.constantFrom('a', '힣', '！', '😀')), maxLength: 3 })
  const inBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))
  fc.assert(fc.property(text, text, (one, other) => Math.sign(compareText(one, other)) === inBytes(one, other)))
})
