import { Readable } from 'node:stream'
import { afterAll, describe, expect, it } from 'vitest'
import { statusAndCode } from '../../support/answer.ts'
import { inPieces } from '../../support/in-pieces.ts'
import { boundary, formHeaders, multipart } from '../../support/multipart.ts'
import { openStorage } from './service.ts'

// A gateway reads bodies itself, and refuses some of these paths. So acceptance cases cannot test this everywhere.
const storage = await openStorage()
await storage.put('/old', 'old')
afterAll(() => storage.close())

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
describe('The staged bytes of a refused upload', () => {
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
})
