import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { beginning, distantSite, openFieldsService } from '../../support/fields-service.ts'
import { answerTo, requestOf, send } from '../../support/gateway.ts'
import { aroundCommands, failOnce, watchCalls } from '../../support/store-faults.ts'

const service = await openFieldsService()
const token = await service.issueToken()
const headers = { Authorization: token }

const secret = 'Requested resource arn:aws:dynamodb:us-east-1:123456789012 not found'
const fail = async () => {
  throw Object.assign(new Error(secret), { name: 'ResourceNotFoundException' })
}

test.each(['application/json', 'application/xml'])('an unexpected error shows no details in %s', async (accept) => {
  const { handler, dynamodb, records } = service.start()
  aroundCommands(dynamodb, 'call', fail)
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
})

test.each([
  ['', 0],
  [', although the clock goes back an hour', -3_600_000],
])('a revoked token stops working after 20 s%s (A-13)', async (_, shift) => {
  const clock = { wall: beginning, monotonic: 0 }
  const { handler } = service.start({ wall: () => clock.wall, monotonic: () => clock.monotonic })
  const path = await service.createForm()
  const lent = await service.issueToken()
  const status = async () => (await send(handler, 'GET', path, { headers: { Authorization: lent } })).status
  expect(await status()).toBe(200)
  await service.revokeToken(lent)
  clock.wall += shift
  clock.monotonic = 19_999
  expect(await status()).toBe(200)
  clock.monotonic = 20_000
  expect(await status()).toBe(401)
})

test('an expired token stops working, even if it is cached', async () => {
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

test.each<[string, number, (known: string) => string]>([
  // Token, site and data centre are read once, and the form each time. An unknown token is read twice each time.
  // The site and the data centre are also read for it.
  ['that is known is looked up once for many requests', 3 + 5, (known) => known],
  ['that is unknown is looked up each time', 5 * 2 + 2, () => 'f'.repeat(64)],
  ['that is a word is not looked up', 0, () => 'hello'],
  ['in capitals is not looked up', 0, () => 'F'.repeat(64)],
  ['that is too short is not looked up', 0, () => 'f'.repeat(63)],
  ['that is sent twice is not looked up', 0, (known) => `${known} `.repeat(2)],
])('a token %s', async (_, count, of) => {
  const { handler, dynamodb } = service.start()
  const path = await service.createForm()
  const calls = watchCalls(dynamodb)
  for (let request = 0; request < 5; request++) {
    await send(handler, 'GET', path, { headers: { Authorization: of(token) } })
  }
  expect(calls).toHaveLength(count)
})

test.each([0, 1, 2, 3])('if read %i of token, site, data centre, form fails, it answers 503 (E-16)', async (call) => {
  const { handler, dynamodb } = service.start()
  const path = await service.createForm()
  failOnce(dynamodb, { call, failure: 'throttled' })
  const refused = await send(handler, 'GET', path, { headers })
  expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  expect((await send(handler, 'GET', path, { headers })).status).toBe(200)
})

test('a request for another data centre is redirected before its body is read', async () => {
  const { handler } = service.start()
  const stream = Readable.from([Buffer.from('{}')])
  const path = await service.createForm([], distantSite)
  const request = requestOf('POST', path, {
    headers: { Authorization: await service.issueToken({ sites: [distantSite] }) },
  })
  const { status } = await answerTo(handler, { ...request, body: { stream } })
  expect(status).toBe(308)
  expect(stream.readableDidRead).toBe(false)
})
