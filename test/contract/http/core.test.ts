import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { beginning, type FieldsService, openFieldsService, ownSite } from '../../support/fields-service.ts'
import { send } from '../../support/gateway.ts'
import { watchCalls } from '../../support/store-faults.ts'

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

const breakStore = (dynamodb: DynamoDBDocumentClient, instead: () => Promise<never>) =>
  dynamodb.middlewareStack.add(() => instead, { step: 'initialize', priority: 'high', name: 'break' })

describe('an error that nobody expected', () => {
  const secret = 'Requested resource arn:aws:dynamodb:us-east-1:123456789012 not found'
  const fail = async () => {
    throw Object.assign(new Error(secret), { name: 'ResourceNotFoundException' })
  }

  test.each(['application/json', 'application/xml'])(
    'is 100500 in %s, and tells nothing about itself',
    async (accept) => {
      const { handler, dynamodb, records } = service.start()
      breakStore(dynamodb, fail)
      const answer = await send(handler, 'GET', await service.createForm(), {
        headers: { ...headers, Accept: accept },
        requestId: 'request-7',
      })
      expect(answer.status).toBe(500)
      expect(answer.headers['content-type']).toBe(`${accept}; charset=utf-8`)
      expect(answer.text).toContain('100500')
      expect(answer.text).toContain('request-7')
      expect(answer.text).not.toMatch(/arn:|not found|ResourceNotFound|\.ts/)
      expect(records).toEqual([
        expect.objectContaining({ status: 500, error: expect.objectContaining({ message: secret }) }),
      ])
    },
  )
})

describe('a request id', () => {
  test('is that of the request, in the header and in an error', async () => {
    const { handler } = service.start()
    const answer = await send(handler, 'GET', '/nothing', { requestId: 'request-1' })
    expect(answer.headers['x-request-id']).toBe('request-1')
    expect(answer.json.requestId).toBe('request-1')
  })
})

describe('a header', () => {
  test('may hold what several of them said', async () => {
    const { handler } = service.start()
    const path = await service.createForm(oneField)
    const { headers: first } = await send(handler, 'GET', path, { headers })
    const again = await send(handler, 'GET', path, {
      headers: { ...headers, 'If-None-Match': ['"another"', first['etag'] ?? ''] },
    })
    expect([again.status, again.headers['content-type']]).toEqual([304, 'application/json; charset=utf-8'])
    const xml = await send(handler, 'GET', path, {
      headers: { ...headers, Accept: ['application/json;q=0.1', 'text/xml;q=0.2'] },
    })
    expect(xml.headers['content-type']).toBe('application/xml; charset=utf-8')
  })

  test('may be called like what all objects have', async () => {
    const { handler } = service.start()
    const unkind = { ...headers, ['__proto__']: 'x', constructor: 'y', toString: 'z' }
    expect((await send(handler, 'GET', await service.createForm(), { headers: unkind })).status).toBe(200)
  })
})

describe('a token', () => {
  test('stops working 20 s after it was revoked, and no later (A-13)', async () => {
    const time = { passed: 0 }
    const { handler } = service.start({ wall: () => beginning + time.passed, monotonic: () => time.passed })
    const path = await service.createForm()
    const lent = await service.issueToken()
    const status = async () => (await send(handler, 'GET', path, { headers: { Authorization: lent } })).status
    expect(await status()).toBe(200)
    await service.revokeToken(lent)
    time.passed = 19_999
    expect(await status()).toBe(200)
    time.passed = 20_000
    expect(await status()).toBe(401)
  })

  test('stops working 20 s after it was revoked with the clock set back an hour, too', async () => {
    const clock = { wall: beginning, monotonic: 0 }
    const { handler } = service.start({ wall: () => clock.wall, monotonic: () => clock.monotonic })
    const path = await service.createForm()
    const lent = await service.issueToken()
    const status = async () => (await send(handler, 'GET', path, { headers: { Authorization: lent } })).status
    expect(await status()).toBe(200)
    await service.revokeToken(lent)
    clock.wall -= 3_600_000
    clock.monotonic += 20_000
    expect(await status()).toBe(401)
  })

  test('stops working the moment that it expires, remembered or not', async () => {
    const clock = { now: beginning }
    const { handler } = service.start({ wall: () => clock.now, monotonic: () => 0 })
    const path = await service.createForm()
    const lent = await service.issueToken({ expires: beginning / 1000 + 5 })
    const status = async () => (await send(handler, 'GET', path, { headers: { Authorization: lent } })).status
    clock.now = beginning + 4_999
    expect(await status()).toBe(200)
    clock.now = beginning + 5_000
    expect(await status()).toBe(401)
  })

  test('that nobody knew yet is looked up again when it comes again', async () => {
    const { handler, dynamodb } = service.start()
    const path = await service.createForm()
    const calls = watchCalls(dynamodb)
    for (let request = 0; request < 2; request++) {
      await send(handler, 'GET', path, { headers: { Authorization: 'f'.repeat(64) } })
    }
    expect(calls).toHaveLength(2)
  })

  test('is looked up once for many requests', async () => {
    const { handler, dynamodb } = service.start()
    const path = await service.createForm()
    const calls = watchCalls(dynamodb)
    for (let request = 0; request < 5; request++) await send(handler, 'GET', path, { headers })
    // Token, site and data centre once, the form each time.
    expect(calls).toHaveLength(3 + 5)
  })

  test('of another shape is not looked up at all', async () => {
    const { handler, dynamodb } = service.start()
    const calls = watchCalls(dynamodb)
    for (const shape of ['hello', 'F'.repeat(64), 'f'.repeat(63), `${token} `.repeat(2)]) {
      await send(handler, 'GET', await service.createForm(), { headers: { Authorization: shape } })
    }
    expect(calls).toEqual([])
  })
})

describe('every answer', () => {
  test.each([
    ['of a list', 'GET', '', 200],
    ['of an error', 'GET', '/-3', 404],
    ['of a change', 'DELETE', '/-2', 200],
    ['to a browser that asks first', 'OPTIONS', '', 204],
  ])('%s has the headers that browsers go by', async (_, method, below, status) => {
    const { handler } = service.start()
    const path = await service.createForm(oneField)
    const answer = await send(handler, method, path + below, { headers })
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'strict-transport-security': expect.stringContaining('max-age='),
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'referrer-policy': 'no-referrer',
    })
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
  })

  test.each([
    'Location',
    'ETag',
    'Content-Range',
    'X-Request-Id',
    'Retry-After',
    'Last-Modified',
    'X-Content-Length',
    'Upload-Offset',
    'Upload-Length',
    'Upload-Defer-Length',
    'Upload-Metadata',
    'Upload-Expires',
    'Tus-Resumable',
    'Tus-Version',
    'Tus-Extension',
    'Tus-Max-Size',
    'Tus-Checksum-Algorithm',
  ])('lets scripts of other origins read %s', async (name) => {
    const answer = await send(service.start().handler, 'GET', '/nothing')
    expect(answer.headers['access-control-expose-headers']?.split(', ')).toContain(name)
  })

  test('to OPTIONS names what the path has, and lets a browser send any method', async () => {
    const { headers: answered } = await send(service.start().handler, 'OPTIONS', await service.createForm())
    expect(answered['allow']).toBe('GET, POST, HEAD, OPTIONS')
    expect(answered['access-control-allow-methods']).toBe('GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS')
  })

  test('of an error is not to be stored', async () => {
    const { handler } = service.start()
    expect((await send(handler, 'GET', '/nothing')).headers['cache-control']).toBe('no-store')
  })

  test('to OPTIONS grants the headers that are asked for, if they are names', async () => {
    const { handler } = service.start()
    const ask = (names: string) =>
      send(handler, 'OPTIONS', '/any/path', { headers: { 'Access-Control-Request-Headers': names } })
    expect((await ask('authorization, x-own')).headers['access-control-allow-headers']).toBe('authorization, x-own')
    expect((await ask('x: y\r\nSet-Cookie: a=b')).headers['access-control-allow-headers']).toMatch(/^Authorization, /)
  })
})

describe('a self link', () => {
  test('begins with the configured base URL, whatever the request says', async () => {
    const { handler } = service.start()
    const path = await service.createForm(oneField)
    const answer = await send(handler, 'GET', `${path.replace(`/${ownSite}/`, '/current/')}/-2`, {
      headers: { ...headers, Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' },
    })
    expect(answer.json.links).toEqual([{ rel: 'self', uri: `https://us.example.com${path}/-2` }])
  })
})
