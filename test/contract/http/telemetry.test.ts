import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { createFieldsHandler } from '../../../functions/fields/group.ts'
import { hashToken } from '../../../lib/access/grants.ts'
import type { Arrival, RequestRecord } from '../../../lib/http/request.ts'
import { openFieldsService, ownSite } from '../../support/fields-service.ts'
import { type Request, send } from '../../support/gateway.ts'
import { failOnce } from '../../support/store-faults.ts'

const service = await openFieldsService()
const token = await service.issueToken()
const path = await service.createForm([{ typeId: -2, mandatory: true, order: 1 }])

/** Words that occur only in the body and the query of a request. */
const bodyWord = 'aardvark'
const queryWord = 'zebra'

const revealing = (request: Request = {}): Request => ({
  headers: { Authorization: token },
  query: { where: queryWord, access_token: token },
  ...request,
})

test('the record contains the operation, the site, the token and the outcome', async () => {
  const { handler, records } = service.start()
  await send(handler, 'GET', path, revealing({ requestId: 'request-1' }))
  expect(records).toEqual([
    {
      requestId: 'request-1',
      operation: 'listFields',
      method: 'GET',
      path,
      site: ownSite,
      token: hashToken(token).slice(0, 8),
      status: 200,
      durationMs: expect.any(Number),
    },
  ])
  expect(records[0]?.durationMs).toBeGreaterThan(0)
})

test('every request has one record, even a refused one', async () => {
  const { handler, records } = service.start()
  await send(handler, 'GET', '/nothing')
  await send(handler, 'PATCH', path)
  await send(handler, 'GET', path)
  await send(handler, 'OPTIONS', path)
  await send(handler, 'GET', `${path}/-3`, revealing())
  await send(handler, 'GET', '/health')
  expect(records.map(({ operation, site, status }) => [operation, site, status])).toEqual([
    ['none', null, 404],
    ['none', null, 405],
    ['listFields', null, 401],
    ['none', null, 204],
    ['getField', ownSite, 404],
    ['getHealth', null, 200],
  ])
  expect(records.every((record) => !('error' in record))).toBe(true)
})

test('the record never contains a token, a body or a query', async () => {
  const { handler, records, dynamodb } = service.start()
  const body = { type: { id: -4 }, mandatory: true, comment: bodyWord }
  await send(handler, 'POST', path, revealing({ body }))
  await send(handler, 'POST', path, revealing({ body }))
  await send(handler, 'POST', path, revealing({ body: `{"${bodyWord}` }))
  const asXml = { Authorization: token, 'Content-Type': 'text/xml', 'Transfer-Encoding': 'chunked' }
  await send(handler, 'POST', path, revealing({ body: `<${bodyWord}`, headers: asXml }))
  await send(handler, 'GET', path, revealing({ headers: { Authorization: `${token}0` } }))
  failOnce(dynamodb, { call: 0, failure: 'throttled' })
  await send(handler, 'PUT', `${path}/-2`, revealing({ body: { mandatory: false, comment: bodyWord } }))
  expect(records.map(({ status }) => status)).toEqual([201, 403, 400, 400, 401, 503])

  const everything = inspect(records, { depth: Number.POSITIVE_INFINITY, showHidden: true })
  for (const secret of [token, bodyWord, queryWord]) expect(everything).not.toContain(secret)
})

test('the record shows the hash of a token, even of a refused one, but no other text', async () => {
  const { handler, records } = service.start()
  const unknown = 'f'.repeat(64)
  await send(handler, 'GET', path, { headers: { Authorization: unknown } })
  await send(handler, 'GET', path, { headers: { Authorization: 'a password, maybe' } })
  await send(handler, 'GET', path)
  expect(records.map((record) => record.token)).toEqual([hashToken(unknown).slice(0, 8), null, null])
})

test('the record of a request is written after the record of its arrival', async () => {
  const { deps } = service.start()
  const reported: string[] = []
  const telemetry = {
    arrival: ({ requestId, method, path }: Arrival) => void reported.push(`${requestId} ${method} ${path} arrives`),
    request: ({ requestId, status }: RequestRecord) => void reported.push(`${requestId} ${status}`),
  }
  const handler = createFieldsHandler({ ...deps, edge: { ...deps.edge, telemetry } })
  await send(handler, 'GET', path, revealing({ requestId: 'request-1' }))
  expect(reported).toEqual([`request-1 GET ${path} arrives`, 'request-1 200'])
})
