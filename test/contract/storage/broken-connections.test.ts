import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeOf, formHeaders, multipart, openStorage, type StorageUnderTest } from './service.ts'

const file = Buffer.alloc(500_000, 'x')

async function* thatBreaks(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 16_384) yield bytes.subarray(at, at + 16_384)
  throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
}

describe('an upload whose connection breaks', () => {
  let storage: StorageUnderTest
  beforeAll(async () => {
    storage = await openStorage()
    await storage.call('PUT', '/folder/file', { body: 'old' })
  })
  afterAll(() => storage.close())

  const part = (whole: Buffer, percent: number) =>
    Readable.from(thatBreaks(whole.subarray(0, (whole.length * percent) / 100)))
  const contentOf = async () => {
    const { bodyStream } = await storage.call('GET', '/folder/file')
    return Buffer.concat((await bodyStream?.toArray()) ?? []).toString()
  }

  it.each([10, 50, 90])(
    'at %i %% leaves the old file and nothing else, and succeeds when it is repeated',
    async (percent) => {
      const form = multipart([
        { name: 'file', content: file },
        { name: 'other', content: file },
      ])
      const answers = [
        await storage.call('PUT', '/folder/file', { body: part(file, percent) }),
        await storage.call('POST', '/folder', { headers: formHeaders, body: part(form, percent) }),
      ]
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([400, 400])
      expect(answers.map(codeOf)).toEqual([104000, 104000])
      expect(await contentOf()).toBe('old')
      expect((await storage.call('GET', '/folder/other')).statusCode).toBe(404)
      expect(await storage.leftovers()).toBe(0)

      expect((await storage.call('POST', '/folder', { headers: formHeaders, body: form })).statusCode).toBe(200)
      expect((await contentOf()) === file.toString()).toBe(true)
      await storage.call('DELETE', '/folder/other')
      await storage.call('PUT', '/folder/file', { body: 'old' })
    },
  )
})
