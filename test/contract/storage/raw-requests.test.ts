import { Readable } from 'node:stream'
import { afterAll, describe, expect, it, vi } from 'vitest'
import type { Person } from '../../../lib/access/people.ts'
import { type Answer, statusAndCode } from '../../support/answer.ts'
import { inPieces } from '../../support/in-pieces.ts'
import { boundary, formHeaders, multipart } from '../../support/multipart.ts'
import { openStorage, type Requests } from './service.ts'

// A gateway reads bodies itself, and refuses some of these paths. So acceptance cases cannot test this everywhere.
const storage = await openStorage({ closes: afterAll })
await storage.put('/old', 'old')

it.each(['%C0%AE%C0%AE', '%E2%82', '%', '%ff'])('%s is not UTF-8: refused with 104015 or 104009', async (path) => {
  expect(statusAndCode(await storage.put(`/${path}`, 'x'))).toEqual([400, 104015])
  expect(statusAndCode(await storage.get(`/${path}`))).toEqual([400, 104015])
  expect(statusAndCode(await storage.remove(`/${path}`))).toEqual([400, 104009])
})

it.each([
  [{ 'Content-Length': String(10 * 1024 ** 3) }, 400, 104005],
  [{ 'If-Match': '"x"' }, 412, 100412],
  [{ 'If-None-Match': '*' }, 412, 100412],
  [{ 'If-Match': 'x' }, 400, 104000],
  [{ 'Content-MD5': 'x' }, 400, 104033],
  [{ 'Transfer-Encoding': 'gzip, chunked' }, 400, 104000],
  [{ 'Content-Digest': 'sha-256=x' }, 400, 104033],
])('A PUT with %o is refused before its body is read', async (headers, status, code) => {
  const body = new Readable({ read: () => expect.unreachable() })
  const answer = await storage.call('PUT', '/old', { headers: { 'Content-Type': 'a/b', ...headers }, body })
  expect(statusAndCode(answer)).toEqual([status, code])
})

const whole = multipart([
  { name: 'one.txt', content: 'x'.repeat(2_000) },
  { name: 'two.txt', content: Buffer.alloc(2_000, `\r\n--${boundary.slice(0, -1)}`) },
])
const tooLarge = Buffer.alloc(5 * 1024 * 1024, 'x')

const aborted = Object.assign(new Error('aborted'), { code: 'ECONNRESET' })

// The acceptance cases show the refusals. Only these tests can break a connection and count staged bytes.
const post = (body: Buffer | Readable) => storage.call('POST', '/folder', { headers: formHeaders, body })
const refused = async (body: Buffer | Readable, code = 104000) => {
  expect(statusAndCode(await post(body))).toEqual([400, code])
  expect((await storage.get('/folder', { meta: '' })).status).toBe(404)
  expect(storage.leftovers()).toBe(0)
}

it('No bytes stay, wherever the body or the connection ends (S-30, S-36)', async () => {
  for (let length = 0; length < whole.length - '--\r\n'.length; length += 100) {
    await refused(whole.subarray(0, length))
    await refused(Readable.from(inPieces(whole.subarray(0, length), 700, aborted)))
  }
})

it.each([
  ['a second file that is too large', [{ name: 'a' }, { name: 'b', content: tooLarge }], 104005],
  ['a second file of the same name', [{ name: 'a' }, { name: 'a' }], 104016],
  ['a second part that is not a file', [{ name: 'a' }, { content: 'x' }], 104002],
])('No bytes stay after %s (S-30)', async (_, files, code) => {
  await refused(multipart(files), code)
  await refused(Readable.from(inPieces(multipart(files), 100_000)), code)
})

it('The log has the sent method, not the text of X-HTTP-Method-Override (U-9)', async () => {
  const request = vi.fn()
  const { tus } = await openStorage({ telemetry: { request } })
  await tus('POST', `/uploads/${'0'.repeat(32)}`, { headers: { 'X-HTTP-Method-Override': 'GET / 200' } })
  expect(request).toHaveBeenCalledWith(expect.objectContaining({ method: 'POST', status: 405 }))
})

const ofBytes = { 'Content-Type': 'application/offset+octet-stream', 'Content-Length': '7' }
const gone = [401, 101000, 'is removed', undefined] as const
const lost = [400, 104003, 'loses the folder', { sites: { 1001: { rights: ['files:write:/other'] } } }] as const

describe.each([gone, lost])('With %i/%i, a caller who %s while the body arrives', (status, code, _, change) => {
  it.each<[string, string | Buffer, (key: Requests, body: Readable) => Promise<Answer>]>([
    ['PUT', 'content', ({ call }, body) => call('PUT', '/in/a.txt', { body })],
    ['a form', multipart([{ name: 'a.txt' }]), ({ call }, body) => call('POST', '/in', { headers: formHeaders, body })],
    ['tus', 'content', ({ create }, body) => create('a.txt', 7, { folder: '/in', headers: ofBytes, body })],
    ['a restore', '{"replace": true}', ({ call }, body) => call('POST', '/in/a.txt', { query: { restore: '' }, body })],
  ])('changes nothing with %s (A-61, U-11)', async (_name, content, ask) => {
    let passed = 0
    const clock = { wall: Date.now, monotonic: () => passed }
    const slow = await openStorage({ clock, lease: { lasts: 120_000 } })
    const key = await slow.asKey(['files:write:/in'], ['files:write'])
    const { people } = slow.stores
    async function* slowly() {
      yield Buffer.from(content).subarray(0, 5)
      for (const person of await people.listOfSites(slow.site)) {
        await people.replace(person, change && { ...person, ...(change as Partial<Person>) }, [])
      }
      passed += 60_000
      yield Buffer.from(content).subarray(5)
    }
    const body = Readable.from(slowly(), { highWaterMark: 1 })
    expect(statusAndCode(await ask(key, body))).toEqual([status, code])
    expect(await slow.keys()).toEqual([])
    expect(slow.leftovers()).toBe(0)
  })
})
