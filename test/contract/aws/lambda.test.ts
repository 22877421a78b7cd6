import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { lambdaHandler } from '../../../lib/aws/lambda/gateway.ts'
import { done, type Reply } from '../../../lib/http/reply.ts'
import { bareHandler, breakingStream, textReply } from '../../support/bare-handler.ts'
import { openFieldsService } from '../../support/fields-service.ts'
import { sendEvent } from '../../support/lambda.ts'

const service = await openFieldsService()
const token = await service.issueToken()
const headers = { Authorization: token }

const oneField = [{ typeId: -2, mandatory: true, order: 1 }]
const fieldsFunction = () => lambdaHandler(service.start().handler)

test.each([
  ['unchanged', '{"type":{"id":-3},"mandatory":true}'],
  ['rewritten by LocalStack', '%7B%22type%22%3A%7B%22id%22%3A-3%7D%2C%22mandatory%22%3Atrue%7D='],
  ['parsed by LocalStack', '%7B%22type%22%3A%7B%22id%22%3A-3%7D%2C%22mandatory%22%3Atrue%2C%22x%22%3A%22a=&b=c%22%7D'],
])('JSON that is declared as a form is read, %s', async (_, body) => {
  const path = await service.createForm()
  const form = { ...headers, 'Content-Type': 'application/x-www-form-urlencoded; charset=UTF-8' }
  expect((await sendEvent(fieldsFunction(), 'POST', path, { headers: form, body })).status).toBe(201)
  // AWS passes on such bodies unchanged, but only in base64.
  if (body.startsWith('%')) {
    const untouched = { headers: form, body: Buffer.from(body).toString('base64'), isBase64Encoded: true }
    expect((await sendEvent(fieldsFunction(), 'POST', path, untouched)).status).toBe(415)
  }
})

test.each(['a=1&b=2', '%7B%22a%22=1', '%7B%E0%A4%A='])('any other form is refused with 415: %s', async (body) => {
  const form = { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' }
  const answer = await sendEvent(fieldsFunction(), 'POST', await service.createForm(), { headers: form, body })
  expect(answer.status).toBe(415)
})

test('a header may be sent several times', async () => {
  const path = await service.createForm(oneField)
  const xml = await sendEvent(fieldsFunction(), 'GET', path, {
    headers: { ...headers, Accept: ['application/json;q=0.1', 'text/xml;q=0.2'] },
  })
  expect(xml.headers['content-type']).toBe('application/xml; charset=utf-8')
})

test('header names may have any case, and may be names of built-in properties', async () => {
  const unkind = { aUTHORIZATION: token, ['__proto__']: 'x', constructor: 'y', toString: 'z' }
  expect((await sendEvent(fieldsFunction(), 'GET', await service.createForm(), { headers: unkind })).status).toBe(200)
})

test('the request id comes from the gateway, or is new', async () => {
  const named = await sendEvent(fieldsFunction(), 'GET', '/nothing', { requestId: 'gateway-1' })
  expect(named).toMatchObject({ headers: { 'x-request-id': 'gateway-1' }, json: { requestId: 'gateway-1' } })
  const idOf = async () => (await sendEvent(fieldsFunction(), 'GET', '/health')).headers['x-request-id']
  const first = await idOf()
  expect(first).toMatch(/^[0-9a-f-]{36}$/)
  expect(await idOf()).not.toBe(first)
})

const answerOf = async (bytes: Readable | Uint8Array) => {
  const { handler } = bareHandler(async () => textReply(5, bytes))
  return sendEvent(lambdaHandler(handler), 'GET', '/')
}
const inBase64 = (bytes: Buffer) => ({ text: bytes.toString('base64'), isBase64Encoded: true })

test.each([
  ['in a stream', () => Readable.from([Buffer.from('\ufeff"he\tll'), Buffer.from('ö"\r\n')])],
  ['in bytes', () => Buffer.from('a \ufeff"he\tllö"\r\n').subarray(2)],
])('text %s is returned as text', async (_, bytes) => {
  expect(await answerOf(bytes())).toMatchObject({ text: '\ufeff"he\tllö"\r\n', isBase64Encoded: false })
})

test.each([
  ['not UTF-8', Buffer.from([0x68, 0xe4])],
  ['cut off within a character', Buffer.from('hö').subarray(0, 2)],
  ['not text', Buffer.from('a\0b')],
  // Each quotation mark takes two bytes in the JSON of a result. A result may have 6 MB.
  ['longer as a text than Lambda allows', Buffer.alloc(4_000_000, '"')],
])('bytes are returned in base64 when they are %s', async (_, bytes) => {
  expect(await answerOf(bytes)).toMatchObject(inBase64(bytes))
  expect(await answerOf(Readable.from([bytes]))).toMatchObject(inBase64(bytes))
})

test('the largest file that fits into an answer is returned as text', async () => {
  const text = 'line 1\nline 2\n'.repeat(290_000)
  expect(await answerOf(Buffer.from(text))).toMatchObject({ text, isBase64Encoded: false })
})

test.each([Buffer.from('hö'), Buffer.from([0, 128, 255])])(
  'the log has the bytes of both bodies (V-28): %j',
  async (bytes) => {
    const { handler, records } = bareHandler(async () => textReply(3, bytes))
    await sendEvent(lambdaHandler(handler), 'POST', '/', { headers: { Accept: 'text/plain' }, body: 'ä' })
    expect(records).toMatchObject([{ status: 200, receivedBytes: 2, sentBytes: 3 }])
  },
)

describe.each(['any', 'named'] as const)('a gateway whose setting binaryAccept is %s', (binaryAccept) => {
  const bytes = Buffer.from([0, 128, 255])
  const answerTo = async (accept: string | undefined, body: Buffer) => {
    const elsewhere = async () => ({ status: 302, headers: { Location: 'https://bucket.test/file?signed' } })
    const { handler } = bareHandler(async () => ({
      status: 200,
      content: { type: 'text/plain', length: body.length, bytes: body, elsewhere },
    }))
    const headers: Record<string, string> = accept === undefined ? {} : { Accept: accept }
    return sendEvent(lambdaHandler(handler, { binaryAccept }), 'GET', '/', { headers })
  }

  test.each([
    ['an unknown type', undefined, true],
    ['nothing', '', true],
    ['anything', '*/*', binaryAccept === 'named'],
    ['anything, and then a type', '*/*;q=0.1, image/png', binaryAccept === 'named'],
    ['the type that LocalStack invents', 'application/json', binaryAccept === 'named'],
    ['a type', 'application/octet-stream', false],
    ['a range of types, and then anything', 'image/*, */*;q=0.8', false],
  ])('a caller who accepts %s gets bytes, or a redirect to them (S-110)', async (_, accept, isElsewhere) => {
    const { status, headers, text } = await answerTo(accept, bytes)
    expect({ status, location: headers['location'], text }).toEqual(
      isElsewhere
        ? { status: 302, location: 'https://bucket.test/file?signed', text: '' }
        : { status: 200, location: undefined, text: bytes.toString('base64') },
    )
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'access-control-allow-origin': '*' })
  })

  test('every caller gets text unchanged', async () => {
    for (const accept of [undefined, '*/*', 'text/plain']) {
      expect(await answerTo(accept, Buffer.from('text'))).toMatchObject({ status: 200, text: 'text' })
    }
  })
})

test('if the stream of a store breaks off, the answer is 100503, logged once', async () => {
  const failure = new Error('the store broke off')
  const { handler, records } = bareHandler(async () => textReply(5, breakingStream(failure, 'he')))
  const answer = await sendEvent(lambdaHandler(handler), 'GET', '/')
  const headers = { 'retry-after': '1', 'content-type': expect.stringContaining('json') }
  expect(answer).toMatchObject({ status: 503, isBase64Encoded: false, json: { code: 100503 }, headers })
  expect(answer.headers['content-length']).toBeUndefined()
  const error = expect.objectContaining({ code: 100503, cause: failure })
  expect(records).toEqual([expect.objectContaining({ status: 503, error })])
})

test('the answer 100503 comes in time and is logged, even if the work ends later', async () => {
  const work = Promise.withResolvers<Reply>()
  const { handler, records } = bareHandler(() => work.promise)
  const answer = await sendEvent(lambdaHandler(handler), 'GET', '/', { remaining: () => 500 })
  expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, json: { code: 100503 } })
  work.resolve(done)
  await work.promise
  expect(records).toEqual([expect.objectContaining({ operation: 'GET', status: 503, error: expect.any(Error) })])
})

test('the answer is 100503 if the time ends while the bytes of the answer are read', async () => {
  const stream = new Readable({ read: () => undefined })
  const { handler, records } = bareHandler(async () => textReply(5, stream))
  const answer = await sendEvent(lambdaHandler(handler), 'GET', '/', { remaining: () => 500 })
  expect(answer.status).toBe(503)
  expect(records).toEqual([expect.objectContaining({ status: 503 })])
  expect(stream.destroyed).toBe(true)
})
