import { setImmediate as turn } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { hashPassword } from '../../../lib/access/sign-in.ts'
import { recountSites } from '../../../lib/aws/dynamodb/usage-counts.ts'
import type { CategoryId, SiteId } from '../../../lib/core/ids.ts'
import { unlimited } from '../../../lib/core/time.ts'
import {
  addOwner,
  type Exercise,
  exercises,
  fillDirectory,
  perform,
  type Request,
  site,
  storesOver,
} from '../../support/every-operation.ts'
import { answerTo, requestOf, textOf } from '../../support/gateway.ts'
import { openHandler } from '../../support/handlers.ts'
import { entry } from '../../support/history.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { testPerson } from '../../support/people.ts'
import { createRounds } from '../../support/rounds.ts'
import { aroundCommands } from '../../support/store-faults.ts'
import { newsItems, range } from '../ports/some-content.ts'

const tables = openMemoryTables()
const token = await fillDirectory(storesOver(tables.connect()))

/** The rounds of calls to the tables, by the method and the path after the site. The first entry has cold caches. */
const roundsOf = async ({ fill, open, requests }: Exercise): Promise<ReadonlyMap<string, number>> => {
  const dynamodb = tables.connect()
  await fill(dynamodb)
  let asked = async () => {}
  aroundCommands(dynamodb, 'call', (send) => asked().then(send))
  const handler = await open(dynamodb, { telemetry: { request: () => {} } })
  const found = new Map<string, number>()
  const measure = async (request: Request, name = `${request.method} ${request.target.split(`/sites/${site}`)[1]}`) => {
    const { count, ask } = createRounds()
    asked = ask
    await perform(handler, token, request)
    found.set(name, count.rounds)
  }
  const [last] = requests.slice(-1)
  if (last) await measure(last, 'with cold caches')
  // The first change in a function also looks for the end of the history, so each request runs twice.
  for (const request of [...requests, ...requests]) await measure(request)
  return found
}

test.each([
  [
    'fields',
    {
      'POST /webforms/1/fields/system': 2,
      'PUT /webforms/1/fields/system/-2': 2,
      'GET /webforms/1/fields/system': 1,
      'DELETE /webforms/1/fields/system/-2': 2,
    },
  ],
  [
    'categories',
    {
      'with cold caches': 1,
      'POST /categories/5/news': 3,
      'GET /categories/5/news?limit=1': 3,
      'GET /categories/5/news?cursor=&count=true': 3,
      'DELETE /categories/5/news': 3,
      'POST /news/1/categories': 3,
      'DELETE /news/1/categories': 3,
      'GET /news/1/categories': 2,
      'GET /news': 2,
    },
  ],
])('The requests of %s need the expected number of rounds of calls to the tables', async (group, expected) => {
  const exercise = exercises.find((one) => one.group === group)
  expect(exercise && Object.fromEntries(await roundsOf(exercise))).toMatchObject(expected)
})

test('A sign-in needs 5 to 8 rounds of calls to the tables (A-62, A-66)', async () => {
  const password = 'correct horse battery'
  const dynamodb = openMemoryTables().connect()
  const stores = storesOver(dynamodb)
  await fillDirectory(stores)
  await stores.people.create(testPerson({ password: await hashPassword(password) }), [])
  const surroundings = { telemetry: { request: () => {} }, insecureSignIn: true }
  const handler = openHandler.access({ dataCentre: 'us' }, stores, surroundings)
  let asked = async () => {}
  aroundCommands(dynamodb, 'call', (send) => asked().then(send))
  const measure = async (...given: Parameters<typeof requestOf>) => {
    const { count, ask } = createRounds()
    asked = ask
    const answer = await answerTo(handler, { ...requestOf(...given), address: '192.0.2.1' })
    return { status: answer.status, rounds: count.rounds, text: await textOf(answer) }
  }
  const signIn = (typed: string) =>
    measure('POST', '/api/v2/admin/tokens', { body: { username: 'ann', password: typed } })
  const firstOfDay = await signIn(password)
  expect(firstOfDay).toMatchObject({ status: 200, rounds: 8 })
  expect(await signIn(password)).toMatchObject({ status: 200, rounds: 7 })
  expect(await signIn('guess')).toMatchObject({ status: 401, rounds: 5 })
  const readMe = () =>
    measure('GET', '/api/v2/admin/me', { headers: { Authorization: JSON.parse(firstOfDay.text).token } })
  expect(await readMe()).toMatchObject({ status: 200, rounds: 2 })
  expect(await readMe()).toMatchObject({ status: 200, rounds: 0 })
})

test('A list of ten news items of a category needs three rounds of calls', async () => {
  const exercise = exercises.find(({ group }) => group === 'categories')
  const category = 5 as CategoryId
  const ids = range(1, 10)
  const rounds = await roundsOf({
    ...(exercise as Exercise),
    async fill(dynamodb) {
      const { contents, links } = storesOver(dynamodb)
      await contents.putMany(site, 'category', [{ id: category, name: 'Five' }], entry)
      await contents.putMany(site, 'news', newsItems(ids), entry)
      await links.link({ site, kind: 'news', category }, new Map(ids.map((id) => [id, true])), entry)
    },
    requests: [{ method: 'GET', target: `/webresources/api/v3/sites/${site}/categories/5/news` }],
  })
  expect(rounds.get('GET /categories/5/news')).toBe(3)
})

test.each(exercises)('$group answers after the last of its calls to the tables has ended', async (exercise) => {
  const own = openMemoryTables()
  const dynamodb = own.connect()
  await fillDirectory(storesOver(dynamodb))
  const session = await addOwner(storesOver(dynamodb))
  await exercise.fill(dynamodb)
  const running: object[] = []
  aroundCommands(dynamodb, 'call', async (send, call) => {
    running.push(call)
    // The newest call ends first, so a call that the function does not wait for is still running at its answer.
    for (let turns = 0; turns < 50; turns = running.at(-1) === call ? turns + 1 : 0) await turn()
    running.splice(running.indexOf(call), 1)
    return send()
  })
  const handler = await exercise.open(dynamodb, { telemetry: { request: () => {} } })
  for (const request of exercise.requests) {
    await perform(handler, session, request)
    expect(running, request.target).toEqual([])
  }
})

test('A recount of several sites reads the table of uploads once (S-125)', async () => {
  let time = 0
  const { usage: counts } = storesOver(openMemoryTables().connect(), () => time)
  const limited = { name: 'Limited', dataCentre: 'us', renderingEngine: true, quota: 9 }
  const sites = [1, 2].map((id) => ({ ...limited, id: id as SiteId }))
  const deps = {
    ...{ counts, dataCentre: 'us', clock: { wall: () => time } },
    sites: { list: async () => ({ dataCentres: [], sites }) },
    files: { list: async () => ({ objects: [], folders: [], next: undefined }) },
    countOpenUploads: vi.fn(async () => new Map([[2, 5]])),
  }
  for (time of [1, 2, 3].map((day) => day * 24 * 3_600_000)) await recountSites(deps, unlimited)
  expect(await Promise.all(sites.map(({ id }) => counts.bytesOf(id)))).toEqual([0, 5])
  expect(deps.countOpenUploads).toHaveBeenCalledTimes(1)
})
