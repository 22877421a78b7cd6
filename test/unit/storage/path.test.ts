import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../lib/core/errors.ts'
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
