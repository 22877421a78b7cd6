import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fieldTypes } from '../../../lib/fields/catalogue.ts'
import type { SystemField } from '../../../lib/fields/web-forms.ts'
import type { Handler } from '../../../lib/http/request.ts'
import { statusAndCode } from '../../support/answer.ts'
import { type FieldsService, openFieldsService, ownSite } from '../../support/fields-service.ts'
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

const form: readonly SystemField[] = [
  { typeId: -2, mandatory: true, order: 1 },
  { typeId: -3, mandatory: false, order: 2 },
  { typeId: -400, mandatory: true, order: 5 },
]

const base = 'https://us.example.com'

describe('listing fields (operation 1)', () => {
  test('answers the wrapper with every field, sorted by order', async () => {
    const path = await service.createForm(form)
    const answer = await call('GET', path)
    const item = (id: number, name: string, typeName: string, mandatory: boolean, order: number) => ({
      links: [{ rel: 'self', uri: `${base}${path}/${id}` }],
      id,
      name,
      type: { id, name: typeName },
      mandatory,
      order,
    })
    expect(answer.json).toEqual({
      links: [
        { rel: 'self', uri: `${base}${path}` },
        { rel: 'previous', uri: null },
        { rel: 'next', uri: null },
      ],
      items: [
        item(-2, 'CustomerDetails', 'CustomerDetails', true, 1),
        item(-3, 'CustomerEmailAddress', 'CustomerEmailAddress', false, 2),
        item(-400, '[ImageVerification]', 'ImageVerification', true, 5),
      ],
      totalItemsCount: 3,
      itemsPerPageCount: 1000,
      currentPage: 1,
    })
  })

  test('has a tag that changes with the fields and comes back unchanged as 304', async () => {
    const path = await service.createForm(form)
    const { etag = '' } = (await call('GET', path)).headers
    const same = await call('GET', path, { headers: { 'If-None-Match': etag } })
    expect([same.status, same.text, same.headers['etag']]).toEqual([304, '', etag])
    await call('PUT', `${path}/-2`, { body: { mandatory: false } })
    expect((await call('GET', path, { headers: { 'If-None-Match': etag } })).status).toBe(200)
  })

  test('is 115001 for a form that is not there, or cannot be', async () => {
    for (const id of ['999', 'abc', '1.0', '01']) {
      const answer = await call('GET', `/api/v1/admin/sites/${ownSite}/webforms/${id}/fields/system`)
      expect(statusAndCode(answer)).toEqual([404, 115001])
    }
  })
})

describe('reading a field (operation 2)', () => {
  test('answers it under its own name, when it has one', async () => {
    const path = await service.createForm([{ typeId: -2, name: 'Who <are> you?', mandatory: true, order: 3 }])
    const answer = await call('GET', `${path}/-2`)
    expect(answer.json).toMatchObject({ name: 'Who <are> you?', type: { id: -2, name: 'CustomerDetails' } })
    const xml = await call('GET', `${path}/-2`, { headers: { Accept: 'application/xml' } })
    expect(readXmlAnswer(xml.text)).toEqual(answer.json)
    expect([answer.headers['vary'], xml.headers['vary']]).toEqual(['Accept', 'Accept'])
  })

  test('is 115002 for one that the form does not have, or cannot have', async () => {
    const path = await service.createForm(form)
    for (const id of ['-4', '99', 'abc', '-2.0']) {
      const answer = await call('GET', `${path}/${id}`)
      expect(statusAndCode(answer)).toEqual([404, 115002])
    }
  })
})

describe('creating a field (operation 3)', () => {
  test.each([...fieldTypes])('takes type %i, %s, in JSON and in XML', async (id) => {
    const [first, second] = [await service.createForm(), await service.createForm()]
    const json = await call('POST', first, { body: { type: { id: String(id) }, mandatory: false } })
    const xml = await call('POST', second, {
      headers: { 'Content-Type': 'application/xml', Accept: 'application/xml' },
      body: `<field xmlns="http://ns.adobe.com/bc/api/v1"><type><id>${id}</id></type><mandatory>false</mandatory></field>`,
    })
    expect([json.status, xml.status]).toEqual([201, 201])
    expect(json.json).toEqual({ links: [{ rel: 'self', uri: `${base}${first}/${id}` }], id })
    expect(json.headers['location']).toBe(`${base}${first}/${id}`)
    expect(readXmlAnswer(xml.text)).toEqual({ links: [{ rel: 'self', uri: `${base}${second}/${id}` }], id })
    expect(await service.storedFields(first)).toEqual([{ typeId: id, mandatory: false, order: 1 }])
    expect(await service.storedFields(second)).toEqual([{ typeId: id, mandatory: false, order: 1 }])
  })

  test('ignores what it does not know', async () => {
    const path = await service.createForm()
    const body = { type: { id: -2, name: 'x' }, mandatory: true, id: 7, name: 'y', constructor: 'z' }
    expect((await call('POST', path, { body })).status).toBe(201)
    expect(await service.storedFields(path)).toEqual([{ typeId: -2, mandatory: true, order: 1 }])
  })

  test('is 115006 for a type that the form has', async () => {
    const path = await service.createForm(form)
    const answer = await call('POST', path, { body: { type: { id: -2 }, mandatory: true } })
    expect(statusAndCode(answer)).toEqual([403, 115006])
  })

  const good = { type: { id: -4 }, mandatory: true }

  test.each<[string, unknown, string]>([
    ['no type', { mandatory: true }, 'type'],
    ['a type that is no object', { ...good, type: -4 }, 'type'],
    ['a type without an id', { ...good, type: {} }, 'type.id'],
    ['an unknown type', { ...good, type: { id: -1 } }, 'type.id'],
    ['-400', { ...good, type: { id: -400 } }, 'type.id'],
    ['half a type', { ...good, type: { id: -4.5 } }, 'type.id'],
    ['a type in words', { ...good, type: { id: 'CustomerDetails' } }, 'type.id'],
    ['a type with blanks', { ...good, type: { id: ' -4' } }, 'type.id'],
    ['no mandatory', { type: { id: -4 } }, 'mandatory'],
    ['a mandatory in words', { ...good, mandatory: 'true' }, 'mandatory'],
    ['a mandatory that is a number', { ...good, mandatory: 1 }, 'mandatory'],
    ['order 0', { ...good, order: 0 }, 'order'],
    ['order -1', { ...good, order: -1 }, 'order'],
    ['order 1.5', { ...good, order: 1.5 }, 'order'],
    ['order 1e99', { ...good, order: 1e99 }, 'order'],
    ['order 2 to the 31st', { ...good, order: 2 ** 31 }, 'order'],
    ['an order in words', { ...good, order: 'first' }, 'order'],
    ['an order in a list', { ...good, order: [1] }, 'order'],
  ])('is 115000 with %s, and names it', async (_, body, member) => {
    const path = await service.createForm(form)
    const answer = await call('POST', path, {
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    })
    expect(answer.status).toBe(400)
    expect(answer.json).toEqual({
      code: 115000,
      message: expect.stringMatching(new RegExp(`^${member}: .*(must|is not)`)),
      requestId: expect.any(String),
      errors: [{ path: member, message: expect.not.stringMatching(/Invalid input/) }],
    })
    expect(await service.storedFields(path)).toEqual(form)
  })

  test.each(['null', '[]', '1', '"text"', 'true'])('is 115000 with the body %s', async (body) => {
    const answer = await call('POST', await service.createForm(), { body })
    expect([answer.status, answer.json.code, answer.json.message]).toEqual([400, 115000, 'must be an object'])
  })

  test('says everything that is wrong at once', async () => {
    const answer = await call('POST', await service.createForm(), {
      body: { type: { id: -1 }, mandatory: 1, order: 0 },
    })
    expect(answer.json.errors).toEqual([
      { path: 'type.id', message: expect.any(String) },
      { path: 'mandatory', message: expect.any(String) },
      { path: 'order', message: expect.any(String) },
    ])
  })

  test('says so in XML that can be read, whatever the body was', async () => {
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

describe.each([
  ['changing a field (operation 4)', 'PUT', { mandatory: false }],
  ['removing a field (operation 5)', 'DELETE', undefined],
])('%s', (_, method, body) => {
  const request = { ...(body && { body }) }

  test('answers 200 with an empty body', async () => {
    const answer = await call(method, `${await service.createForm(form)}/-2`, request)
    expect([answer.status, answer.text]).toEqual([200, ''])
    // Of any other type, clients would parse it, and fail.
    expect(answer.headers['content-type']).toBe('text/plain')
  })

  test('is 115002 for a field that the form does not have', async () => {
    const answer = await call(method, `${await service.createForm(form)}/-4`, request)
    expect(statusAndCode(answer)).toEqual([404, 115002])
  })

  test('is 115001 for a form that is not there', async () => {
    const answer = await call(method, `/api/v1/admin/sites/${ownSite}/webforms/999/fields/system/-2`, request)
    expect(statusAndCode(answer)).toEqual([404, 115001])
  })

  test.each(['application/json', 'application/xml'])('takes an If-Match that was read as %s, once', async (accept) => {
    const path = `${await service.createForm(form)}/-2`
    const { etag = '' } = (await call('GET', path, { headers: { Accept: accept } })).headers
    expect((await call('PUT', path, { body: { order: 9 }, headers: { 'If-Match': etag } })).status).toBe(200)
    const stale = await call(method, path, { ...request, headers: { 'If-Match': etag } })
    expect(statusAndCode(stale)).toEqual([412, 100412])
    expect(await service.storedFields(path)).toContainEqual({ typeId: -2, mandatory: true, order: 9 })
  })

  test('does the same to -400, which only an import can have placed', async () => {
    expect((await call(method, `${await service.createForm(form)}/-400`, request)).status).toBe(200)
  })
})

describe('changing a field (operation 4)', () => {
  test('sets mandatory, order or both, in JSON and in XML', async () => {
    const path = await service.createForm(form)
    await call('PUT', `${path}/-2`, { body: { mandatory: false } })
    await call('PUT', `${path}/-3`, { body: { order: 5 } })
    await call('PUT', `${path}/-400`, {
      headers: { 'Content-Type': 'text/xml' },
      body: '<f><mandatory>false</mandatory><order>1</order></f>',
    })
    expect(await service.storedFields(path)).toEqual([
      { typeId: -400, mandatory: false, order: 1 },
      { typeId: -2, mandatory: false, order: 2 },
      { typeId: -3, mandatory: false, order: 5 },
    ])
  })

  test.each<[string, unknown]>([
    ['neither', {}],
    ['a type alone', { type: { id: -4 } }],
    ['a wrong mandatory', { mandatory: 'no', order: 1 }],
    ['a wrong order', { mandatory: true, order: 0 }],
  ])('is 115000 with %s, and changes nothing', async (_, body) => {
    const path = await service.createForm(form)
    const answer = await call('PUT', `${path}/-2`, { body: JSON.stringify(body) })
    expect(statusAndCode(answer)).toEqual([400, 115000])
    expect(await service.storedFields(path)).toEqual(form)
  })
})

describe('the neighbours', () => {
  test('are the catalogue, of 33 types', async () => {
    const answer = await call('GET', `/api/v1/admin/sites/current/webformfieldtypes/system`)
    expect(answer.json).toMatchObject({ totalItemsCount: 33, currentPage: 1 })
    expect(answer.json.items).toContainEqual({ id: -304, name: 'WebFormSecurity' })
  })

  test('are the web forms of the site, and each of them', async () => {
    const path = await service.createForm(form)
    const self = path.replace('/fields/system', '')
    const links = [
      { rel: 'self', uri: `${base}${self}` },
      { rel: 'systemFields', uri: `${base}${path}` },
    ]
    const one = (await call('GET', self)).json
    expect(one).toEqual({ links, id: Number(self.split('/').at(-1)), name: expect.stringContaining('Form ') })
    expect((await call('GET', `/api/v1/admin/sites/${ownSite}/webforms`)).json.items).toContainEqual(one)
  })

  test('are 115001 for a form that is not there', async () => {
    const answer = await call('GET', `/api/v1/admin/sites/${ownSite}/webforms/999`)
    expect(statusAndCode(answer)).toEqual([404, 115001])
  })
})
