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
const xml = '<field><mandatory>true</mandatory></field>'
const value = { mandatory: true }

describe('the media type of a body', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'Application/JSON ; Charset=US-ASCII',
    'application/x-www-form-urlencoded',
    'application/x-www-form-urlencoded; charset=UTF-8',
    ' ',
  ])('is JSON when it is %j', async (type) => {
    expect(await read(inMemory(json), as(type))).toEqual(value)
  })

  test('is JSON by default', async () => {
    expect(await read(inMemory(json))).toEqual(value)
  })

  test.each(['application/xml', 'text/xml', 'text/xml; charset=utf-8'])('is XML when it is %s', async (type) => {
    expect(await read(inMemory(xml), as(type))).toEqual(value)
  })

  test.each(['text/plain', 'application/octet-stream', 'multipart/form-data; boundary=x', 'json', 'application/json2'])(
    'is 100015 when it is %s',
    async (type) => {
      await expect(read(inMemory(json), as(type))).rejects.toThrow(refusal(100015))
    },
  )

  test('is 100015 with a charset other than UTF-8', async () => {
    await expect(read(inMemory(json), as('application/json; charset=iso-8859-1'))).rejects.toThrow(
      refusal(100015, 'UTF-8'),
    )
  })

  test('is 100015 for XML if the operation does not support XML', async () => {
    await expect(read(inMemory(xml), as('application/xml'), {})).rejects.toThrow(refusal(100015))
  })

  test.each([
    ['{"mandatory":true}', value],
    [' \r\n [1]', [1]],
  ])('is JSON when it is a form and the body is %j', async (text, expected) => {
    expect(await read(inMemory(text), as('application/x-www-form-urlencoded'))).toEqual(expected)
  })

  test.each(['mandatory=true', xml, 'true'])('is 100015 when it is a form and the body is %j', async (text) => {
    await expect(read(inMemory(text), as('application/x-www-form-urlencoded'))).rejects.toThrow(refusal(100015))
  })
})

describe('the characters of a body', () => {
  test('may begin with a byte order mark', async () => {
    const mark = Buffer.from([0xef, 0xbb, 0xbf])
    expect(await read(inMemory(Buffer.concat([mark, Buffer.from(json)])))).toEqual(value)
    expect(await read(inMemory(Buffer.concat([mark, Buffer.from(xml)])), as('text/xml'))).toEqual(value)
  })

  test.each([
    ['cut off', [0x22, 0xe2, 0x82, 0x22]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
    ['Latin 1', [0x22, 0xe9, 0x22]],
    ['overlong', [0x22, 0xc0, 0xaf, 0x22]],
  ])('are 115000 when they are %s', async (_, bytes) => {
    await expect(read(inMemory(Buffer.from(bytes)))).rejects.toThrow(refusal(115000, 'not UTF-8'))
  })

  test('are joined across the pieces of a stream', async () => {
    const bytes = Buffer.from('{"name":"é😀"}')
    const pieces = [...bytes].map((byte) => Buffer.from([byte]))
    expect(await read({ stream: Readable.from(pieces) })).toEqual({ name: 'é😀' })
  })
})

describe('a body that cannot be read', () => {
  test('is 115000 with the reason', async () => {
    await expect(read(inMemory('{"mandatory":'))).rejects.toThrow(refusal(115000, 'not well-formed JSON'))
    await expect(read(inMemory('<a><b></a>'), as('text/xml'))).rejects.toThrow(refusal(115000, 'not well-formed XML'))
  })

  test('is 115000 when it is missing', async () => {
    await expect(read(inMemory(''))).rejects.toThrow(refusal(115000, 'no body'))
    await expect(read({ stream: Readable.from([]) })).rejects.toThrow(refusal(115000, 'no body'))
  })

  test('is 115000 when its stream breaks off', async () => {
    const stream = new Readable({ read: () => undefined })
    const reading = read({ stream })
    stream.destroy(new Error('socket hang up'))
    await expect(reading).rejects.toThrow(refusal(115000, 'is incomplete'))
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

  test('is checked after the media type and before the content', async () => {
    await expect(read(inMemory(sized(65_537)), as('text/plain'))).rejects.toThrow(refusal(100015))
    await expect(read(inMemory('{'.repeat(65_537)))).rejects.toThrow(refusal(100013))
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

  test('is read as form data, or as JSON if it looks like JSON', async () => {
    expect(await readOtherwise('items[0][objectId]=2', form)).toEqual({ items: [{ objectId: '2' }] })
    expect(await readOtherwise('{"items":[]}', form)).toEqual({ items: [] })
    await expect(read(inMemory('items=2'), as(form))).rejects.toThrow(refusal(100015))
  })

  test('is read from the query without a body', async () => {
    expect(await readOtherwise('', form)).toEqual({ items: [{ objectId: '1' }], x: ['1', '2'] })
    expect(await readOtherwise('', 'application/json')).toMatchObject({ items: [{ objectId: '1' }] })
    expect(await readOtherwise('{}', 'application/json')).toEqual({})
    await expect(readOtherwise('', 'text/plain')).rejects.toThrow(refusal(100015))
  })

  test('is 220000 for an excessive form', async () => {
    await expect(readOtherwise('a=1&'.repeat(3_000), form)).rejects.toThrow(refusal(220000, 'form data'))
  })
})
