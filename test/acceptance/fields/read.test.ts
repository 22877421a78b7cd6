import { expect, test } from 'vitest'
import { expectError } from '../support/expectations.ts'
import { fieldsOf, formWith, ownSiteId, site } from '../support/forms.ts'
import { call } from '../support/http.ts'

const absolute = /^https?:\/\/[^/]+.*\/api\/v1\/admin\/sites\/\d+\//

test('The list of fields is an object that describes one page (F-5, F-6)', async () => {
  const form = await formWith({ id: -2, mandatory: true }, { id: -3 })
  const { status, json } = await call(fieldsOf(form))
  expect(status).toBe(200)
  expect(json).toMatchObject({ totalItemsCount: 2, itemsPerPageCount: 1000, currentPage: 1 })
  expect(json.links.map(({ rel }: { rel: string }) => rel)).toEqual(['self', 'previous', 'next'])
  expect(json.links.slice(1).map(({ uri }: { uri: unknown }) => uri)).toEqual([null, null])
})

test('A field has links, id, name, type, mandatory and order (F-2)', async () => {
  const form = await formWith({ id: -7, mandatory: true, order: 4 })
  const { json } = await call(fieldsOf(form))
  const [field] = json.items
  expect(field).toEqual({
    links: [{ rel: 'self', uri: expect.stringMatching(absolute) }],
    id: -7,
    name: 'CustomerDOB',
    type: { id: -7, name: 'CustomerDOB' },
    mandatory: true,
    order: 4,
  })
})

test('Fields are listed in their order, and ignore paging and sorting (F-1)', async () => {
  const form = await formWith({ id: -2, order: 9 }, { id: -3, order: 2 }, { id: -5, order: 5 })
  const { json } = await call(`${fieldsOf(form)}?limit=1&page=2&order=-id&_=123`)
  expect(json.items.map(({ id }: { id: number }) => id)).toEqual([-3, -5, -2])
})

test('Links of fields name the site by number, and lead to the same list (F-6, F-7)', async () => {
  const form = await formWith({ id: -2 })
  const { json } = await call(fieldsOf(form))
  const numeric = `/api/v1/admin/sites/${await ownSiteId()}/webforms/${form}/fields/system`
  expect(json.links[0].uri).toMatch(new RegExp(`${numeric}$`))
  expect(json.items[0].links[0].uri).toMatch(new RegExp(`${numeric}/-2$`))
  expect((await call('', { baseUrl: json.links[0].uri })).json).toEqual(json)
})

test('A field that is read alone equals its entry in the list (F-2)', async () => {
  const form = await formWith({ id: -2 }, { id: -3, mandatory: true })
  const list = await call(fieldsOf(form))
  const { status, json } = await call(`${fieldsOf(form)}/-3`)
  expect(status).toBe(200)
  expect(json).toEqual(list.json.items[1])
})

test('HEAD of a field returns the headers of GET without a body', async () => {
  const form = await formWith({ id: -2 })
  const read = await call(`${fieldsOf(form)}/-2`)
  const head = await call(`${fieldsOf(form)}/-2`, { method: 'HEAD' })
  expect(head).toMatchObject({ status: 200, text: '', headers: { etag: read.headers['etag'] } })
})

test('Each operation on an unknown form answers 404/115001 (F-3, E-21)', async () => {
  const body = { type: { id: -2 }, mandatory: true }
  const fields = fieldsOf(99999999)
  for (const path of [`${site}/webforms/99999999`, fields, `${fields}/-2`, `${fields}/abc`]) {
    expectError(await call(path), 404, 115001)
  }
  expectError(await call(fields, { method: 'POST', body }), 404, 115001)
  expectError(await call(`${fields}/-2`, { method: 'PUT', body }), 404, 115001)
  expectError(await call(`${fields}/-2`, { method: 'DELETE' }), 404, 115001)
})

test('A request for a field that the form does not have answers 404/115002 (F-4, E-22)', async () => {
  const form = await formWith({ id: -2 })
  expectError(await call(`${fieldsOf(form)}/-3`), 404, 115002)
  expectError(await call(`${fieldsOf(form)}/-3`, { method: 'PUT', body: { order: 1 } }), 404, 115002)
  expectError(await call(`${fieldsOf(form)}/-3`, { method: 'DELETE' }), 404, 115002)
})

const malformedIds = ['abc', '1.5', '01', '-0', '+7', '7%20', '0x7', '%D9%A7', '%00', 'x'.repeat(300), '1e3', '--2']
test.each(malformedIds)('A request for the form or field %s answers 404', async (id) => {
  const form = await formWith({ id: -2 })
  expectError(await call(fieldsOf(id)), 404, 115001)
  expectError(await call(`${fieldsOf(form)}/${id}`), 404, 115002)
})

test('The list of forms is wrapped like the list of fields, and has links (F-8)', async () => {
  const form = await formWith()
  const { status, json } = await call(`${site}/webforms`)
  expect(status).toBe(200)
  expect(json).toMatchObject({ totalItemsCount: json.items.length, itemsPerPageCount: 1000, currentPage: 1 })
  expect(json.links.map(({ rel }: { rel: string }) => rel)).toEqual(['self', 'previous', 'next'])
  const item = json.items.find(({ id }: { id: number }) => id === form)
  const path = `/api/v1/admin/sites/${await ownSiteId()}/webforms/${form}`
  expect(item).toEqual({
    links: [
      { rel: 'self', uri: expect.stringMatching(new RegExp(`${path}$`)) },
      { rel: 'systemFields', uri: expect.stringMatching(new RegExp(`${path}/fields/system$`)) },
    ],
    id: form,
    name: expect.any(String),
  })
})

test('A form read alone equals its entry in the list, and links to its fields (F-8)', async () => {
  const form = await formWith({ id: -2 })
  const { json: list } = await call(`${site}/webforms`)
  const { status, json } = await call(`${site}/webforms/${form}`)
  expect(status).toBe(200)
  expect(json).toEqual(list.items.find(({ id }: { id: number }) => id === form))
  const fields = json.links.find(({ rel }: { rel: string }) => rel === 'systemFields').uri
  expect((await call('', { baseUrl: fields })).json.totalItemsCount).toBe(1)
})
