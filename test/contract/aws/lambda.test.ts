import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lambdaHandler } from '../../../lib/aws/lambda.ts'
import { done, type Reply } from '../../../lib/http/reply.ts'
import { bareHandler } from '../../support/bare-handler.ts'
import { type FieldsService, openFieldsService } from '../../support/fields-service.ts'
import { sendEvent } from '../../support/lambda.ts'

let service: FieldsService
let token: string
let headers: { Authorization: string }

beforeAll(async () => {
  service = await openFieldsService()
  token = await service.issueToken()
  headers = { Authorization: token }
})
afterAll(() => service.close())

const oneField = [{ typeId: -2, mandatory: true, order: 1 }]
const fieldsFunction = () => lambdaHandler(service.start().handler)

describe('what the gateway hands over', () => {
  test('may be a body in base64', async () => {
    const path = await service.createForm()
    const body = Buffer.from('{"type":{"id":-3},"mandatory":true}').toString('base64')
    const request = { headers, body, isBase64Encoded: true }
    expect((await sendEvent(fieldsFunction(), 'POST', path, request)).status).toBe(201)
  })

  test('may be a header that was sent several times', async () => {
    const path = await service.createForm(oneField)
    const xml = await sendEvent(fieldsFunction(), 'GET', path, {
      headers: { ...headers, Accept: ['application/json;q=0.1', 'text/xml;q=0.2'] },
    })
    expect(xml.headers['content-type']).toBe('application/xml; charset=utf-8')
  })

  test('may have header names in any case, also those that all objects have', async () => {
    const unkind = { aUTHORIZATION: token, ['__proto__']: 'x', constructor: 'y', toString: 'z' }
    expect((await sendEvent(fieldsFunction(), 'GET', await service.createForm(), { headers: unkind })).status).toBe(200)
  })

  test('has a request id, which is used; one is made up where there is none, a new one each time', async () => {
    const named = await sendEvent(fieldsFunction(), 'GET', '/nothing', { requestId: 'gateway-1' })
    expect(named.headers['x-request-id']).toBe('gateway-1')
    expect(named.json()['requestId']).toBe('gateway-1')
    const idOf = async () => (await sendEvent(fieldsFunction(), 'GET', '/health')).headers['x-request-id']
    const first = await idOf()
    expect(first).toMatch(/^[0-9a-f-]{36}$/)
    expect(await idOf()).not.toBe(first)
  })
})

const content = (bytes: Readable | Uint8Array): Reply => ({
  status: 200,
  content: { type: 'text/plain', length: 5, bytes },
})

describe('what the gateway gets', () => {
  test('is text as it is', async () => {
    const { body, isBase64Encoded } = await sendEvent(fieldsFunction(), 'GET', '/health')
    expect({ body, isBase64Encoded }).toEqual({ body: '{"status":"ok"}', isBase64Encoded: false })
  })

  test.each([
    ['a stream', () => Readable.from([Buffer.from('he'), Buffer.from('llo')])],
    ['bytes', () => Buffer.from('a hello').subarray(2)],
  ])('is %s in base64', async (_, bytes) => {
    const { handler } = bareHandler(async () => content(bytes()))
    const { body, isBase64Encoded } = await sendEvent(lambdaHandler(handler), 'GET', '/')
    expect({ body, isBase64Encoded }).toEqual({ body: 'aGVsbG8=', isBase64Encoded: true })
  })

  test('is 100503 when the stream of a store breaks half-way, which is recorded once, with what broke it', async () => {
    const failure = new Error('the store broke off')
    const { handler, records } = bareHandler(async () =>
      content(
        Readable.from(
          (async function* () {
            yield Buffer.from('he')
            throw failure
          })(),
        ),
      ),
    )
    const answer = await sendEvent(lambdaHandler(handler), 'GET', '/')
    expect(answer).toMatchObject({ status: 503, isBase64Encoded: false })
    expect(answer.json()).toMatchObject({ code: 100503 })
    expect(answer.headers).toMatchObject({ 'retry-after': '1', 'content-type': expect.stringContaining('json') })
    expect(answer.headers['content-length']).toBeUndefined()
    const error = expect.objectContaining({ code: 100503, cause: failure })
    expect(records).toEqual([expect.objectContaining({ status: 503, error })])
  })
})

describe('a request that the platform is about to end', () => {
  test('is 100503 while there is time to say so, and recorded as that, though it be done later', async () => {
    const work = Promise.withResolvers<Reply>()
    const { handler, records } = bareHandler(() => work.promise)
    const answer = await sendEvent(lambdaHandler(handler), 'GET', '/', { remaining: () => 500 })
    expect(answer.status).toBe(503)
    expect(answer.headers['retry-after']).toBe('1')
    expect(answer.json()['code']).toBe(100503)
    work.resolve(done)
    await work.promise
    expect(records).toEqual([expect.objectContaining({ operation: 'GET', status: 503, error: expect.any(Error) })])
  })

  test('is 100503 while its answer is being read, too', async () => {
    const stream = new Readable({ read: () => undefined })
    const { handler, records } = bareHandler(async () => content(stream))
    const answer = await sendEvent(lambdaHandler(handler), 'GET', '/', { remaining: () => 500 })
    expect(answer.status).toBe(503)
    expect(records).toEqual([expect.objectContaining({ status: 503 })])
    expect(stream.destroyed).toBe(true)
  })

  test('is answered as ever when it is done in time', async () => {
    const request = { headers, remaining: () => 29_000 }
    expect((await sendEvent(fieldsFunction(), 'GET', await service.createForm(), request)).status).toBe(200)
  })
})
