import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Handler } from '../../../lib/http/request.ts'
import { type FieldsService, openFieldsService } from '../../support/fields-service.ts'
import { type Request, send } from '../../support/gateway.ts'
import { readXmlAnswer } from '../../support/read-xml-answer.ts'

let service: FieldsService
let handler: Handler
let headers: { Authorization: string }

beforeAll(async () => {
  service = await openFieldsService()
  headers = { Authorization: await service.issueToken() }
  ;({ handler } = service.start())
})
afterAll(() => service.close())

const call = (method: string, path: string, request: Request = {}) =>
  send(handler, method, path, { ...request, headers: { ...headers, ...request.headers } })

describe('a new field that is refused with 115000', () => {
  const good = { type: { id: -4 }, mandatory: true }

  test.each<[string, unknown, string]>([
    ['no type', { mandatory: true }, 'type'],
    ['a type without an id', { ...good, type: {} }, 'type.id'],
    ['an unknown type', { ...good, type: { id: -1 } }, 'type.id'],
    ['a type with blanks', { ...good, type: { id: ' -4' } }, 'type.id'],
    ['no mandatory', { type: { id: -4 } }, 'mandatory'],
    ['order 1e99', { ...good, order: 1e99 }, 'order'],
    ['order 2 to the 31st', { ...good, order: 2 ** 31 }, 'order'],
    ['an order in words', { ...good, order: 'first' }, 'order'],
  ])('has the member named, once, and in words of its own: %s', async (_, body, member) => {
    const answer = await call('POST', await service.createForm(), { body: JSON.stringify(body) })
    expect(answer.status).toBe(400)
    expect(answer.json).toEqual({
      code: 115000,
      message: expect.stringMatching(new RegExp(`^${member}: .*(must|is not)`)),
      requestId: expect.any(String),
      errors: [{ path: member, message: expect.not.stringMatching(/Invalid input/) }],
    })
  })

  test.each(['null', '[]', '1', '"text"'])('must be an object, and is %s', async (body) => {
    const answer = await call('POST', await service.createForm(), { body })
    expect([answer.status, answer.json.code, answer.json.message]).toEqual([400, 115000, 'must be an object'])
  })

  test('is refused in XML that can be read, whatever the body was', async () => {
    const answer = await call('POST', await service.createForm(), {
      headers: { Accept: 'application/xml' },
      body: '{"a": \u0001\u001B<&]]>',
    })
    expect(answer.status).toBe(400)
    expect(answer.text).not.toMatch(/\p{Cc}/u)
    expect(readXmlAnswer(answer.text)).toMatchObject({
      code: 115000,
      message: expect.stringContaining('not well-formed JSON'),
    })
  })
})

test('the answers for a field vary by Accept, in JSON and in XML', async () => {
  const path = await service.createForm([{ typeId: -2, name: 'Who <are> you?', mandatory: true, order: 3 }])
  for (const accept of ['application/json', 'application/xml']) {
    expect((await call('GET', `${path}/-2`, { headers: { Accept: accept } })).headers['vary']).toBe('Accept')
  }
})

test('a change may have either member alone, and none that is too high', async () => {
  const form = [{ typeId: -2, mandatory: true, order: 1 }]
  const path = await service.createForm(form)
  const statusOf = async (body: object) => (await call('PUT', `${path}/-2`, { body })).status
  expect([await statusOf({ order: 2 ** 31 }), await statusOf({})]).toEqual([400, 400])
  expect(await service.storedFields(path)).toEqual(form)
  expect([await statusOf({ mandatory: false }), await statusOf({ order: 2 })]).toEqual([200, 200])
})
