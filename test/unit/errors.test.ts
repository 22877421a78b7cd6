import { describe, expect, test } from 'vitest'
import { errors, invalidInput } from '../../lib/core/errors.ts'

/** Callers rely on these: a code and its status never change. */
const promised: Readonly<Record<number, number>> = {
  101000: 401,
  101001: 401,
  101002: 400,
  101003: 404,
  101010: 404,
  101011: 409,
  101012: 409,
  101013: 400,
  100002: 400,
  109002: 403,
  100004: 404,
  100005: 405,
  100006: 406,
  100015: 415,
  100013: 413,
  100403: 403,
  100412: 412,
  100416: 416,
  100429: 429,
  100503: 503,
  100507: 507,
  100500: 500,
  115000: 400,
  115001: 404,
  115002: 404,
  115006: 403,
  220000: 400,
  220001: 404,
  220002: 404,
  220003: 400,
}

/** Sub error codes of storage have status 400, except these. */
const storageStatuses: Readonly<Record<number, readonly number[]>> = {
  104001: [404],
  // A resumable upload uses the statuses of its protocol.
  104005: [400, 413],
  104024: [403],
  104030: [409],
  104031: [423],
  104032: [404],
  104033: [400, 460],
}
const statusesOf = (code: number): readonly number[] => {
  const status = promised[code]
  if (status !== undefined) return [status]
  return storageStatuses[code] ?? (code >= 104000 && code <= 104028 ? [400] : [])
}

describe('the error table', () => {
  test.each(Object.entries(errors))('%s has a promised code and its status', (_, { code, status }) => {
    expect(statusesOf(code)).toContain(status)
  })

  test.each(Object.entries(errors))('%s has advice for people', (_, { message }) => {
    expect(message).toMatch(/^[A-Z].{15,}\.$/)
  })
})

describe('a service error', () => {
  test('with several faults has the first as its message, and lists all', () => {
    const problems = [
      { path: 'type.id', message: 'must be there' },
      { path: 'order', message: 'must be 1 or more' },
    ]
    const error = invalidInput('fieldsMalformed', problems)
    expect(error).toMatchObject({ code: 115000, message: 'type.id: must be there', problems })
  })

  test('about the whole body names no member', () => {
    expect(invalidInput('fieldsMalformed', [{ path: '', message: 'is wrong' }]).message).toBe('is wrong')
  })
})
