import { describe, expect, test } from 'vitest'
import { expectError } from '../support/expectations.ts'
import { fieldsOf, formWith, layoutOf, site } from '../support/forms.ts'
import { call } from '../support/http.ts'

describe('Media types', () => {
  test.each(['image/png', 'application/xhtml+xml', 'application/json;q=0', 'text/*;q=0, application/*;q=0'])(
    'Accept: %s is refused with 406/100006, in JSON (E-9)',
    async (accept) => {
      expectError(await call(`${site}/webforms`, { headers: { Accept: accept } }), 406, 100006)
    },
  )

  test.each([
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'application/json; charset=utf-16',
    'x',
  ])('A body of type %s is refused with 415/100015 (E-11)', async (type) => {
    const form = await formWith()
    const body = '{"type":{"id":-2},"mandatory":true}'
    const answer = await call(fieldsOf(form), { method: 'POST', body, headers: { 'Content-Type': type } })
    expectError(answer, 415, 100015)
    expect(await layoutOf(form)).toBe('')
  })

  test('Form data that is no JSON is refused with 415/100015 (A-5, E-11)', async () => {
    const form = await formWith()
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    expectError(await call(fieldsOf(form), { method: 'POST', body: 'type=1', headers }), 415, 100015)
  })

  test('A body over 64 KiB is refused with 413/100013 (E-10)', async () => {
    const form = await formWith()
    const padded = (length: number) => {
      const text = '{"type":{"id":-2},"mandatory":true}'
      return text.slice(0, -1) + ' '.repeat(length - text.length) + text.slice(-1)
    }
    const post = (body: string) =>
      call(fieldsOf(form), { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })
    expectError(await post(padded(64 * 1024 + 1)), 413, 100013)
    expect(await layoutOf(form)).toBe('')
    expect((await post(padded(64 * 1024))).status).toBe(201)
  })
})
