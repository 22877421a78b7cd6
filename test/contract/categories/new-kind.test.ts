import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { CategoryId, SiteId } from '../../../lib/core/ids.ts'
import { checkDataDirectory } from '../../../lib/machine/check/check-directory.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { createDocument } from '../../../tools/openapi/document.ts'
import { administer, importInto, jsonLines } from '../../support/administration.ts'
import { backUp, restore, tamper } from '../../support/backups.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { fillDirectory } from '../../support/every-operation.ts'
import { send } from '../../support/gateway.ts'
import { openHandler } from '../../support/handlers.ts'
import { entry, hands } from '../../support/hands.ts'

/** A third kind needs only one record in lib/core/object-kinds.ts. (`npm run openapi` updates the document.) */
vi.mock(import('../../../lib/core/object-kinds.ts'), async (original) => {
  const { objectKinds, ...others } = await original()
  const event = {
    one: 'event',
    many: 'events',
    segment: 'events',
    type: 99,
    members: {
      id: { type: 'integer' },
      siteId: { type: 'integer' },
      title: { type: 'string', otherwise: (of: (name: string) => unknown) => `Event ${of('id')}` },
      programme: { type: 'text', otherwise: '' },
      seats: { type: 'integer', nullable: true, otherwise: null },
      startDate: { type: 'date', otherwise: (_: unknown, now: string) => now },
      open: { type: 'boolean', otherwise: true },
    },
    examples: { shown: 'title,seats', flag: 'open', date: 'startDate' },
  }
  return { ...others, objectKinds: { ...objectKinds, event } }
})

const site = 1001 as SiteId
const v3 = `/webresources/api/v3/sites/${site}`

const records = [
  { kind: 'category', id: 5, name: 'Summer' },
  { kind: 'event', id: 1, title: 'Concert', programme: 'Songs', seats: 300, startDate: '2026-07-01' },
  { kind: 'event', id: 2, title: 'Reading', startDate: '2026-06-01', open: false },
  { kind: 'event', id: 3 },
  { kind: 'event', id: 4, colour: 'red' },
  { kind: 'link', type: 'event', categoryId: 5, objectId: 1 },
]

test.each(hands)('objects of a new kind work like news and blogs: $name', async ({ open }) => {
  const hand = await open()
  onTestFinished(() => hand.close())
  const token = await fillDirectory(hand.stores)
  const settings = { dataCentre: 'us', longestList: 100 }
  const telemetry = { request: () => undefined }
  const handler = openHandler.categories(settings, hand.stores, { telemetry })
  const ask = (method: string, path: string, request: { query?: Record<string, string>; body?: object } = {}) =>
    send(handler, method, `${v3}${path}`, { headers: { Authorization: token }, ...request })
  const items = (...ids: readonly number[]) => ({ body: { items: ids.map((objectId) => ({ objectId })) } })

  const known = 'id, siteId, title, programme, seats, startDate, open'
  expect(await importInto(hand.stores, site, records)).toMatchObject({
    imported: 5,
    skipped: 1,
    errors: [{ line: 5, message: `"colour" is not a known member. Use only these members: ${known}` }],
  })
  expect((await ask('POST', '/categories/5/events', items(2, 3))).status).toBe(201)
  const refused = await ask('POST', '/categories/5/events', items(4))
  expect(refused).toMatchObject({ status: 404, text: expect.stringContaining('there is no event 4 on this site') })

  const event = {
    ...{ id: 1, siteId: site, title: 'Concert', programme: 'Songs', seats: 300 },
    ...{ startDate: '2026-07-01T00:00:00', open: true },
  }
  const { json } = await ask('GET', '/categories/5/events', { query: { limit: '1' } })
  expect(json).toEqual({
    items: [{ objectId: 1, categoryId: 5, objectType: 99, displayable: 1, siteId: site, event }],
    totalItemsCount: 3,
    skip: 0,
    limit: 1,
  })
  expect(Object.keys(json.items[0].event)).toEqual(Object.keys(event))
  const query = { order: '-title', fields: 'event.title', where: '{open:true}' }
  expect((await ask('GET', '/categories/5/events', { query })).json.items).toEqual([
    { event: { title: 'Event 3' } },
    { event: { title: 'Concert' } },
  ])
  const all = { order: '-startDate', fields: 'id,title', where: '{open:true}' }
  expect((await ask('GET', '/events', { query: all })).json.items).toContainEqual({ id: 1, title: 'Concert' })
  expect((await ask('GET', '/events', { query: { order: 'programme' } })).status).toBe(400)

  expect((await ask('DELETE', '/categories/5/events', items(1))).status).toBe(204)
  expect((await ask('GET', '/events/2/categories')).json).toMatchObject({ items: [{ id: 5, name: 'Summer' }] })
  await hand.stores.contents.remove(site, 'category', 5 as CategoryId, entry)
  expect((await ask('GET', '/categories/5/events')).status).toBe(404)
  expect((await ask('GET', '/events/2/categories')).json).toMatchObject({ items: [] })
})

test('the commands of site-admin accept a new kind of objects', async () => {
  const folder = scratchDirectory()
  const manage = (...args: readonly string[]) => administer(join(folder, 'data'), ['--json', ...args])
  await writeFile(join(folder, 'records'), jsonLines(records))
  await (await openMachine(join(folder, 'data'), { role: 'service' })).close()
  await manage('data-centre', 'add', 'us', '--url', 'http://127.0.0.1')
  await manage('site', 'create', '--id', '1001', '--name', 'Own')
  expect(await manage('import', join(folder, 'records'), '--site', '1001')).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('"imported":5,"skipped":1'),
  })
  const remove = () => manage('object', 'remove', 'event', '1', '--site', '1001', '--yes')
  expect(await remove()).toEqual({ status: 0, stdout: '{"removed":true}\n', stderr: '' })
  expect(await remove()).toMatchObject({ status: 1, stderr: expect.stringContaining('Site 1001 has no event 1. ') })
})

test('an older directory and backup pass check, and get the tables of a new kind', async () => {
  const folder = scratchDirectory()
  const data = join(folder, 'data')
  const backup = join(folder, 'backup')
  const restored = join(folder, 'restored')
  await (await openMachine(data, { role: 'service' })).close()
  await backUp(data, backup)
  for (const directory of [data, backup]) {
    tamper(directory, 'DROP TABLE event_links; DROP TABLE event_texts; DROP TABLE events')
    expect(await checkDataDirectory(directory)).toEqual([])
  }
  await restore(backup, restored)
  await (await openMachine(restored)).close()
  // This fails if a table is missing.
  tamper(restored, 'DELETE FROM event_links; DELETE FROM event_texts; DELETE FROM events')
  expect(await checkDataDirectory(restored)).toEqual([])
})

test('the OpenAPI document describes a new kind of objects', () => {
  const { paths } = createDocument([]) as { paths: Record<string, Record<string, object>> }
  expect(paths['/webresources/api/v3/sites/{site}/categories/{category}/events']).toMatchObject({
    get: { operationId: 'listEventsOfCategory', summary: 'List the events of a category' },
    post: { operationId: 'linkEvents' },
    delete: { operationId: 'unlinkEvents' },
  })
  expect(paths['/webresources/api/v3/sites/{site}/events']).toMatchObject({
    get: { operationId: 'listEvents', summary: 'List the events of a site' },
  })
  expect(paths['/webresources/api/v3/sites/{site}/events/{object}/categories']).toMatchObject({
    get: { operationId: 'listCategoriesOfEvent', summary: 'List the categories of an event' },
  })
})
