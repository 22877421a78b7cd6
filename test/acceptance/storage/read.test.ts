import { beforeAll, expect, it } from 'vitest'
import { storage } from '../../support/paths.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { at, ownFolder, read, store } from '../support/storage.ts'

const own = ownFolder()
const digits = `${own}/digits.txt`

beforeAll(async () => {
  await store(digits, '0123456789')
})

it('GET returns the bytes with their type, length, time and tag (S-66, S-70, S-71)', async () => {
  // Unknown values of version are ignored.
  const { status, text, headers } = await read(digits, '?version=17')
  expect({ status, text }).toEqual({ status: 200, text: '0123456789' })
  expect(headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-length': '10',
    'accept-ranges': 'bytes',
    etag: expect.stringMatching(/^".+"$/),
    'last-modified': expect.stringMatching(/GMT$/),
  })
})

it('Without Accept, GET returns the bytes or redirects to them', async () => {
  await store(`${own}/bytes.bin`, Buffer.from([0, 128, 255]))
  const { status, headers, text } = await call(at(`${own}/bytes.bin`), { accept: null })
  const elsewhere = status === 302 && (await fetch(headers['location'] ?? ''))
  expect(elsewhere ? await elsewhere.text() : text).toBe(Buffer.from([0, 128, 255]).toString())
})

it('HEAD returns the headers of GET, and X-Content-Length for gateways (S-70)', async () => {
  const { status, text, headers } = await call(at(digits), { method: 'HEAD' })
  const { headers: whole } = await read(digits)
  expect({ status, text, length: headers['x-content-length'] }).toEqual({ status: 200, text: '', length: '10' })
  for (const name of ['content-type', 'content-length', 'etag', 'last-modified'])
    expect(headers[name]).toBe(whole[name])
  expect(headers['access-control-expose-headers']).toContain('X-Content-Length')
  for (const range of ['bytes=2-4', 'bytes=10-']) {
    const whole = await call(at(digits), { method: 'HEAD', headers: { Range: range } })
    expect([whole.status, whole.headers['x-content-length']]).toEqual([200, '10'])
  }
})

it.each([
  ['bytes=0-3', '0123', 'bytes 0-3/10'],
  ['bytes=4-', '456789', 'bytes 4-9/10'],
  ['bytes=-3', '789', 'bytes 7-9/10'],
  ['Bytes=8-9223372036854775806', '89', 'bytes 8-9/10'],
  ['bytes=-100', '0123456789', 'bytes 0-9/10'],
])('A request for the range %s is answered with 206 (S-70)', async (range, part, contentRange) => {
  const { status, text, headers } = await call(at(digits), { headers: { Range: range } })
  expect({ status, text, range: headers['content-range'] }).toEqual({ status: 206, text: part, range: contentRange })
})

it.each(['bytes=10-', 'bytes=-0'])('A request for the range %s is refused with 416/100416 (E-13)', async (range) => {
  const answer = await call(at(digits), { headers: { Range: range } })
  expectError(answer, 416, 100416)
  expect(answer.headers['content-range']).toBe('bytes */10')
})

it.each(['bytes=1-2,4-5', 'lines=1-2', 'bytes=5-2', 'nonsense'])('The range %s gets the whole file', async (range) => {
  expect(await call(at(digits), { headers: { Range: range } })).toMatchObject({ status: 200, text: '0123456789' })
})

it('A range with If-Range is returned only while the file is the same', async () => {
  const { etag = '', 'last-modified': time = '' } = (await read(digits)).headers
  const earlier = new Date(Date.parse(time) - 1_000).toUTCString()
  for (const [state, status] of [
    [etag, 206],
    [time, 206],
    ['"other"', 200],
    [earlier, 200],
  ] as const) {
    const range = { Range: 'bytes=0-1', 'If-Range': state }
    expect((await call(at(digits), { headers: range })).status).toBe(status)
  }
})

it('A caller who has the current file gets 304 (S-70)', async () => {
  const { headers } = await read(digits)
  for (const tag of [headers['etag'] ?? '', `"x", W/${headers['etag']}`, '*']) {
    expect(await call(at(digits), { headers: { 'If-None-Match': tag } })).toMatchObject({ status: 304, text: '' })
  }
  expect((await call(at(digits), { headers: { 'If-None-Match': '"x"' } })).status).toBe(200)
})

// The form without a zone: `Sun Nov  6 08:49:37 1994` (RFC 9110, section 5.6.7).
const withoutZone = (date = ''): string =>
  date.replace(/^(\w+), 0?(\d+) (\w+) (\d+) ([\d:]+) GMT$/, (_, weekday, day, month, year, time) =>
    [weekday, month, day.padStart(2), time, year].join(' '),
  )

it('A time is a condition of a read, unless there is a condition with a tag (S-70)', async () => {
  const { etag = '', 'last-modified': time = '' } = (await read(digits)).headers
  const [earlier, later] = [-1_000, 1_000].map((more) => new Date(Date.parse(time) + more).toUTCString())
  const conditions: readonly (readonly [Record<string, string | undefined>, number])[] = [
    [{ 'If-Modified-Since': time }, 304],
    [{ 'If-Modified-Since': earlier }, 200],
    [{ 'If-Modified-Since': time, 'If-None-Match': '"x"' }, 200],
    [{ 'If-Unmodified-Since': later }, 200],
    [{ 'If-Unmodified-Since': time }, 200],
    [{ 'If-Unmodified-Since': 'yesterday' }, 200],
    [{ 'If-Unmodified-Since': earlier }, 412],
    [{ 'If-Unmodified-Since': earlier, 'If-Match': etag }, 200],
    [{ 'If-Modified-Since': withoutZone(time) }, 304],
    [{ 'If-Modified-Since': withoutZone(later) }, 200],
    [{ 'If-Unmodified-Since': withoutZone(time) }, 200],
    [{ 'If-Unmodified-Since': withoutZone(earlier) }, 412],
  ]
  for (const method of ['GET', 'HEAD']) {
    for (const [given, status] of conditions) {
      const headers = given as Record<string, string>
      expect((await call(at(digits), { method, headers })).status).toBe(status)
    }
  }
})

it('The refusal of a read names the condition that failed (S-70, E-12)', async () => {
  const earlier = new Date(0).toUTCString()
  for (const [name, value] of Object.entries({ 'If-Unmodified-Since': earlier, 'If-Match': '"x"' })) {
    const answer = await call(at(`${own}/digits.txt`), { headers: { [name]: value } })
    expectError(answer, 412, 100412)
    expect(answer.json.message.split(' ', 1)).toEqual([name])
  }
})

it('GET of a missing file answers 104001, of a folder 104002 (S-72, E-29, E-30)', async () => {
  expectError(await read(`${own}/nothing`), 404, 104001)
  expectError(await read(`${digits}/below`), 404, 104001)
  expectError(await read(own), 400, 104002)
  expectError(await call(storage), 400, 104002)
})
