import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { statusAndCode } from '../../support/answer.ts'
import { openUploads, other, own, type UploadsUnderTest, uploadIn } from './service.ts'

/** A resumable upload from its creation to its end (U-1). */
let service: UploadsUnderTest
let now = Date.UTC(2026, 0, 31, 12)
const hour = 3_600_000
beforeAll(async () => {
  service = await openUploads({ clock: { wall: () => now, monotonic: () => performance.now() } })
})
afterAll(() => service.close())

const plain = { 'Tus-Resumable': null }

/** The bytes of `hello`, whose second half waits: `arrived` tells that the first one has been taken. */
const inTwoHalves = () => {
  const arrived = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const slow = Readable.from(
    (async function* () {
      yield Buffer.from('he')
      arrived.resolve()
      await goOn.promise
      yield Buffer.from('llo')
    })(),
  )
  return { arrived, goOn, slow }
}

describe('bytes of a resumable upload', () => {
  test('may not be more than declared, whether the request says so or not', async () => {
    const upload = uploadIn(await service.create('more.txt', 5))
    expect(statusAndCode(await service.patch(upload, 0, 'hello!'))).toEqual([413, 104005])
    expect(statusAndCode(await service.patch(upload, 0, Readable.from([Buffer.from('hello!')])))).toEqual([413, 104005])
    expect((await service.head(upload)).headers['upload-offset']).toBe('0')
    await service.patch(upload, 0, 'HELLO')
    expect(await service.content('more.txt')).toBe('HELLO')
  })

  test('are not kept when they are to be checked and break off', async () => {
    const upload = uploadIn(await service.create('checked.txt', 5))
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from('hel')
        throw new Error('The caller has gone')
      })(),
    )
    const headers = { 'Upload-Checksum': 'sha1 qvTGHdzF6KLavt4PO0gs2a6pQ00=' }
    await service.patch(upload, 0, broken, { headers })
    expect((await service.head(upload)).headers['upload-offset']).toBe('0')
  })

  test('are added by one request at a time: another one is told to come back (U-21, E-51)', async () => {
    const upload = uploadIn(await service.create('alone.txt', 5))
    const { arrived, goOn, slow } = inTwoHalves()
    const first = service.patch(upload, 0, slow)
    await arrived.promise
    const second = await service.patch(upload, 0, 'HELLO')
    expect(statusAndCode(second)).toEqual([423, 104031])
    expect(Number(second.headers['retry-after'])).toBeGreaterThan(0)
    expect((await service.head(upload)).headers['upload-offset']).toBe('0')
    goOn.resolve()
    expect((await first).status).toBe(204)
    expect(await service.content('alone.txt')).toBe('hello')
  })

  test('of an upload that is cancelled meanwhile go nowhere', async () => {
    const upload = uploadIn(await service.create('cancelled.txt', 5))
    const { arrived, goOn, slow } = inTwoHalves()
    const before = service.leftovers()
    const appending = service.patch(upload, 0, slow)
    await arrived.promise
    expect((await service.call('DELETE', upload)).status).toBe(204)
    goOn.resolve()
    expect(statusAndCode(await appending)).toEqual([404, 104032])
    expect(await service.content('cancelled.txt')).toBeUndefined()
    expect(service.leftovers()).toBe(before)
  })
})

describe('a resumable upload belongs', () => {
  test('to its user: any token of that user may go on, and for others it is unknown', async () => {
    const upload = uploadIn(await service.create('owned.txt', 5))
    const another = await service.issueToken({ user: 'bob' })
    const refused = [
      await service.head(upload, { token: another }),
      await service.patch(upload, 0, 'hello', { token: another }),
      await service.call('DELETE', upload, { token: another }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([404, 404, 404])
    const nothing = await service.patch(`/uploads/${'c'.repeat(32)}`, 0, 'hello', { token: another })
    expect(refused[1]?.json).toEqual(nothing.json)
    const token = await service.issueToken({ sites: [own] })
    expect((await service.patch(upload, 0, 'hello', { token })).status).toBe(204)
    expect(await service.content('owned.txt')).toBe('hello')
  })

  test('to its site', async () => {
    const upload = uploadIn(await service.create('of-site.txt', 5))
    const answer = await service.callAt(other, 'PATCH', upload, {
      body: 'hello',
      headers: { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' },
    })
    expect(statusAndCode(answer)).toEqual([404, 104032])
  })

  test('to one data centre: any other sends its requests there with 308', async () => {
    for (const method of ['HEAD', 'PATCH', 'DELETE']) {
      const path = `/uploads/${'d'.repeat(32)}`
      const { status, headers } = await service.callAt(1003, method, path)
      expect([status, headers['location']]).toEqual([308, `https://eu.example.com/api/v2/admin/sites/1003${path}`])
      expect(headers['tus-resumable']).toBe('1.0.0')
    }
  })
})

describe('a resumable upload expires', () => {
  test('24 hours after its last append, which is checked when it is read (U-25)', async () => {
    const upload = uploadIn(await service.create('late.txt', 5))
    now += 24 * hour - 1
    expect((await service.patch(upload, 0, 'he')).status).toBe(204)
    now += 24 * hour - 1
    expect((await service.head(upload)).headers['upload-expires']).toBe(new Date(now + 1).toUTCString())
    const before = service.leftovers()
    now += 1
    expect(statusAndCode(await service.patch(upload, 2, 'llo'))).toEqual([404, 104032])
    expect(service.leftovers()).toBe(before - 1)
  })

  test('6 days after its creation, however often something is added (U-25)', async () => {
    const begun = now
    const created = await service.create('slow.txt', 100)
    const upload = uploadIn(created)
    for (let day = 0; day < 6; day++) {
      now = begun + (day + 1) * 23.5 * hour
      const { status, headers } = await service.patch(upload, day, 'x')
      expect(status).toBe(204)
      expect(Date.parse(headers['upload-expires'] ?? '')).toBeLessThanOrEqual(begun + 144 * hour)
    }
    now = begun + 144 * hour
    expect((await service.head(upload)).status).toBe(404)
  })
})

describe('the progress of a resumable upload', () => {
  const percent = async () =>
    (await service.call('GET', '/storage', { query: { status: '' }, headers: plain })).json.percent

  test('is that of the token which has added last, never falls, and is 100 when the file is in place', async () => {
    const upload = uploadIn(await service.create('progress.bin', 200))
    expect(await percent()).toBe(0)
    await service.patch(upload, 0, 'x'.repeat(50))
    expect(await percent()).toBe(25)
    const token = await service.issueToken()
    await service.patch(upload, 50, 'x'.repeat(51), { token })
    expect(await percent()).toBe(25)
    await service.patch(upload, 101, 'x'.repeat(98))
    expect(await percent()).toBe(99)
    await service.patch(upload, 199, 'x')
    expect(await percent()).toBe(100)
  })
})

test('a request without Tus-Resumable is what it always was (U-4)', async () => {
  const answer = await service.create('plain.txt', 5, { headers: plain, body: 'no form' })
  expect([...statusAndCode(answer), answer.headers['tus-resumable']]).toEqual([400, 104000, undefined])
})
