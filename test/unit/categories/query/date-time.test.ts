import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readDateTime } from '../../../../lib/categories/query/comparable.ts'

test.each([
  ['2026-01-31', '2026-01-31T00:00:00'],
  ['2026-01-31T12:34', '2026-01-31T12:34:00'],
  [' 2026-01-31t12:34:56z ', '2026-01-31T12:34:56'],
  ['2026-01-31 12:34:56', '2026-01-31T12:34:56'],
  ['2026-01-31T12:34:56.000', '2026-01-31T12:34:56'],
  ['2026-01-31T12:34:56.120Z', '2026-01-31T12:34:56.12'],
  ['2026-01-01T00:30:00+01:00', '2025-12-31T23:30:00'],
  ['2025-12-31T23:30:00-0100', '2026-01-01T00:30:00'],
  ['2026-01-31T12:00:00+05:30', '2026-01-31T06:30:00'],
  ['2024-02-29', '2024-02-29T00:00:00'],
  ['0000-01-01', '0000-01-01T00:00:00'],
  ['0001-01-01', '0001-01-01T00:00:00'],
  ['9999-12-31T23:59:59', '9999-12-31T23:59:59'],
])('the date %s is read as %s', (text, moment) => {
  expect(readDateTime(text)).toBe(moment)
})

test.each([
  '',
  'today',
  '2026',
  '2026-1-1',
  '2026-02-29',
  '2026-13-01',
  '2026-00-10',
  '2026-01-32',
  '2026-01-31T24:00:00',
  '2026-01-31T12:60',
  '2026-01-31T12:00:60',
  '2026-01-31Z',
  '20260131',
  '9999-12-31T23:59:59-01:00',
  '0000-01-01T00:00:00+01:00',
  '2026-01-31T12:00:00.1234567890',
])('the text %j is not a date', (text) => {
  expect(readDateTime(text)).toBeUndefined()
})

test('every time that is written is read back correctly', () => {
  const moments = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(moments, (date) => {
      expect(Date.parse(`${readDateTime(date.toISOString())}Z`)).toBe(date.getTime())
    }),
  )
})
