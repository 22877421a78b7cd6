import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { statusAndCode } from '../../support/answer.ts'
import { boundary, formHeaders, multipart } from '../../support/multipart.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

const whole = multipart([
  { name: 'one.txt', content: 'x'.repeat(2_000) },
  { name: 'two.txt', content: Buffer.alloc(2_000, `\r\n--${boundary.slice(0, -1)}`) },
])
const tooLarge = Buffer.alloc(5 * 1024 * 1024, 'x')

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function* thenBreaks(bytes: Buffer): AsyncGenerator<Buffer> {
  yield* inPieces(bytes, 700)
  throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
}

// The acceptance cases show the refusals. Only these tests can break a connection and count staged bytes.
describe('The staged bytes of a refused upload', () => {
  let storage: StorageUnderTest
  beforeAll(async () => {
    storage = await openStorage()
  })
  afterAll(() => storage.close())

  const post = (body: Buffer | Readable) => storage.call('POST', '/folder', { headers: formHeaders, body })
  const refused = async (body: Buffer | Readable, code = 104000) => {
    expect(statusAndCode(await post(body))).toEqual([400, code])
    expect((await storage.get('/folder', { meta: '' })).status).toBe(404)
    expect(storage.leftovers()).toBe(0)
  }

  it('No bytes stay, wherever the body or the connection ends (S-30, S-36)', async () => {
    for (let length = 0; length < whole.length - '--\r\n'.length; length += 100) {
      await refused(whole.subarray(0, length))
      await refused(Readable.from(thenBreaks(whole.subarray(0, length))))
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
