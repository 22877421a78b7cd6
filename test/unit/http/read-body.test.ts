import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { readForm } from '../../../lib/http/form.ts'
import { type BodyForms, largestDocument, readDocument } from '../../../lib/http/read-body.ts'
import { readXml } from '../../../lib/http/read-xml.ts'
import type { Request, RequestBody } from '../../../lib/http/request.ts'

const request = (body: RequestBody, headers: Record<string, string> = {}): Request => ({
  id: 'request',
  method: 'POST',
  path: '/',
  query: new Map(),
  headers,
  body,
})

const inMemory = (content: string | Buffer): RequestBody => ({ bytes: Buffer.from(content) })

const read = (
  body: RequestBody,
  headers?: Record<string, string>,
  forms: BodyForms = { xml: async (text) => readXml(text) },
) => readDocument(request(body, headers), 'fieldsMalformed', forms)

const as = (type: string) => ({ 'content-type': type })
const refusal = (code: number, message = '') =>
  expect.objectContaining({ code, message: expect.stringContaining(message) })

const json = '{"mandatory":true}'

describe('a body', () => {
  test('has its characters joined across the pieces of a stream', async () => {
    const bytes = Buffer.from('{"name":"é😀"}')
    const pieces = [...bytes].map((byte) => Buffer.from([byte]))
    expect(await read({ stream: Readable.from(pieces) })).toEqual({ name: 'é😀' })
  })

  test('is 115000 when its stream breaks off', async () => {
    const stream = new Readable({ read: () => undefined })
    const reading = read({ stream })
    stream.destroy(new Error('socket hang up'))
    await expect(reading).rejects.toThrow(refusal(115000, 'breaks off'))
  })
})

/** JSON of exactly that many bytes. */
const sized = (length: number) => `"${'x'.repeat(length - 2)}"`

describe('the size of a body', () => {
  test('may be 64 KiB', async () => {
    expect(largestDocument).toBe(65_536)
    expect(await read(inMemory(sized(65_536)))).toHaveLength(65_534)
    expect(await read({ stream: Readable.from([Buffer.from(sized(65_536))]) })).toHaveLength(65_534)
  })

  test('is 100013 beyond it, in memory and in a stream', async () => {
    await expect(read(inMemory(sized(65_537)))).rejects.toThrow(refusal(100013, '65536'))
    await expect(read({ stream: Readable.from([Buffer.from(sized(65_537))]) })).rejects.toThrow(refusal(100013))
  })

  test('is 100013 when the announced size is too large, and nothing is read', async () => {
    const stream = Readable.from([Buffer.from(json)])
    await expect(read({ stream }, { 'content-length': '65537' })).rejects.toThrow(refusal(100013))
    expect(stream.readableDidRead).toBe(false)
  })

  test('is 100013 as soon as a stream exceeds it, and the rest of the stream stays with its owner', async () => {
    let pieces = 0
    const stream = new Readable({
      highWaterMark: 1024,
      read() {
        pieces += 1
        this.push(Buffer.alloc(1024, ' '))
      },
    })
    await expect(read({ stream })).rejects.toThrow(refusal(100013))
    expect(pieces).toBeLessThan(70)
    expect(stream.destroyed).toBe(false)
  })
})

describe('a body in an alternative form', () => {
  const query = new Map([
    ['items[0][objectId]', ['1']],
    ['x', ['1', '2']],
  ])
  const readOtherwise = (body: string, type: string) =>
    readDocument({ ...request(inMemory(body), as(type)), query }, 'categoriesMalformed', {
      form: async (text) => readForm(text),
      inQuery: true,
    })
  const form = 'application/x-www-form-urlencoded'

  test('is read from the query without a body', async () => {
    expect(await readOtherwise('', form)).toEqual({ items: [{ objectId: '1' }], x: ['1', '2'] })
    expect(await readOtherwise('', 'application/json')).toMatchObject({ items: [{ objectId: '1' }] })
    await expect(readOtherwise('', 'text/plain')).rejects.toThrow(refusal(100015))
  })

  test('is 220000 for an excessive form', async () => {
    await expect(readOtherwise('a=1&'.repeat(3_000), form)).rejects.toThrow(refusal(220000, 'form data'))
  })
})
