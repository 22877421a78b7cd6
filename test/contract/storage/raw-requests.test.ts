import { Readable } from 'node:stream'
import { afterAll, expect, it } from 'vitest'
import { statusAndCode } from '../../support/answer.ts'
import { openStorage } from './service.ts'

// A gateway reads bodies itself, and refuses some of these paths. So acceptance cases cannot test this everywhere.
const storage = await openStorage()
await storage.put('/old', 'old')
afterAll(() => storage.close())

it.each(['%C0%AE%C0%AE', '%E2%82', '%', '%ff'])(
  'The path %s, which is not UTF-8, is refused with 104015, or 104009 for DELETE',
  async (path) => {
    expect(statusAndCode(await storage.put(`/${path}`, 'x'))).toEqual([400, 104015])
    expect(statusAndCode(await storage.get(`/${path}`))).toEqual([400, 104015])
    expect(statusAndCode(await storage.remove(`/${path}`))).toEqual([400, 104009])
  },
)

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
