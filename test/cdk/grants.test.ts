import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { Context, ScheduledEvent, SQSEvent } from 'aws-lambda'
import { beforeEach, expect, test, vi } from 'vitest'
import type { FunctionName } from '../../cdk/config/functions.ts'
import { functionGrants } from '../../cdk/config/grants.ts'
import { countOpenUploads } from '../../lib/aws/dynamodb/uploads.ts'
import { createRemovalsHandler } from '../../lib/aws/lambda/removal-worker.ts'
import { routes } from '../../lib/contract/routes/routes.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { systemClock, unlimited } from '../../lib/core/time.ts'
import type { RequestRecord } from '../../lib/http/request.ts'
import type { Stores } from '../../lib/service/stores.ts'
import { continueRemoval } from '../../lib/storage/continue-removal.ts'
import { toStoragePath } from '../../lib/storage/path.ts'
import '../acceptance/setup/quick-passwords.ts'
import {
  addKey,
  addOwner,
  exercises,
  fillDirectory,
  openStorageOver,
  perform,
  storesOver,
} from '../support/every-operation.ts'
import { entry } from '../support/history.ts'
import { openMemoryTables } from '../support/memory-dynamodb.ts'
import { createLoss, loseFirstAnswers } from '../support/store-faults.ts'
import { type Call, linesOf, recordCalls } from './support/record-calls.ts'

const sorted = (names: Iterable<string>) => [...new Set(names)].sort()

const grantedTo = (name: FunctionName) =>
  linesOf(
    functionGrants[name].tables.flatMap(({ actions, ...place }) => actions.map((action) => ({ ...place, action }))),
  )

/** Sends a request once if every answer arrives, and again for each lost answer. */
type Repeat = (send: () => Promise<unknown>) => Promise<void>

const ways = {
  'every answer arrives': (): Repeat => async (send) => void (await send()),

  'the answer to the first call of each kind is lost, and the client repeats the call': (dynamodb): Repeat => {
    loseFirstAnswers(dynamodb)
    return async (send) => void (await send())
  },

  'each answer is lost for good, and the request is repeated': (dynamodb): Repeat => {
    const loss = createLoss(dynamodb)
    return async (send) => {
      for (let call = 1; ; call++) {
        loss.lose(call)
        // A change whose answer was lost may be refused when it is repeated.
        await send().catch(() => {})
        if (loss.isOver()) return loss.lose(0)
      }
    }
  },
} satisfies Record<string, (dynamodb: DynamoDBDocumentClient) => Repeat>

beforeEach(() => {
  // The service logs history entries that were lost with an answer.
  vi.spyOn(console, 'error').mockReturnValue()
})

/** The calls that `work` makes to new tables, with and without lost answers. */
const callsOf = async (
  work: (repeat: Repeat, dynamodb: DynamoDBDocumentClient, plain: DynamoDBDocumentClient) => Promise<void>,
): Promise<readonly Call[]> => {
  const made: Call[] = []
  for (const faultsOf of Object.values(ways)) {
    const tables = openMemoryTables()
    const dynamodb = tables.connect()
    const calls = recordCalls(dynamodb)
    await work(faultsOf(dynamodb), dynamodb, tables.connect())
    made.push(...calls)
  }
  return made
}

/** Removes a file of a site with a quota, and recounts the used bytes of the site in steps. */
const removeAndRecount = async (
  repeat: Repeat,
  dynamodb: DynamoDBDocumentClient,
  filled: ReturnType<typeof storesOver>,
  { files, removalQueue }: Pick<Stores, 'files' | 'removalQueue'>,
) => {
  const site = { id: 1001 as SiteId, name: 'Limited', dataCentre: 'us', renderingEngine: true, quota: 10 }
  const { sites, removals, usage: counts } = storesOver(dynamodb)
  const ofUploads = { countOpenUploads: () => countOpenUploads({ dynamodb, table: 'uploads' }) }
  const listed = { key: 'live/1001/again/a.txt', size: 1, modified: 0, version: '1', fingerprint: null }
  const list = async () => ({ objects: [listed], folders: [], next: undefined })
  let waited = 0
  const run = createRemovalsHandler({
    ...{ sites, removals, counts, ...ofUploads, dataCentre: 'us', removalQueue },
    files: { ...files, list, exists: async () => false, remove: async () => ({ bytes: 0, spared: new Set() }) },
    clock: { ...systemClock, wall: () => Date.now() + waited },
  })
  const context = { getRemainingTimeInMillis: () => 90_000 } as Context
  const body = JSON.stringify({ site: '1001', path: 'again', id: 'again' })
  await filled.sites.createSite(site, entry)
  await filled.removals.open(site.id, toStoragePath('again'), 'again', entry)
  await repeat(async () => run({ Records: [{ body, messageId: 'message' }] } as SQSEvent, context))
  for (let step = 0; step < 3; step++) {
    await repeat(async () => run({} as ScheduledEvent, context))
    waited += 20 * 60_000
  }
  expect(await filled.usage.bytesOf(site.id)).toBe(2)
}

test('the requests of this test reach every function', () => {
  expect(sorted([...exercises.map(({ group }) => group), 'removals'])).toEqual(sorted(Object.keys(functionGrants)))
})

test.each(exercises)(
  'the function $group may do exactly what it does',
  async ({ group, open, fill, requests, work }) => {
    const records: RequestRecord[] = []
    const telemetry = { request: (record: RequestRecord) => void records.push(record) }
    const calls = await callsOf(async (repeat, dynamodb, plain) => {
      await fillDirectory(storesOver(plain))
      // A request with a key also writes the last use of the key.
      const token = await (group === 'access' ? addOwner : addKey)(storesOver(plain))
      await fill(plain)
      const handler = await open(dynamodb, { telemetry })
      for (const request of requests) {
        const send = () => perform(handler, token, request)
        await (request.fills ? send() : repeat(send))
      }
      if (work) await repeat(() => work(dynamodb))
    })

    const operations = routes.filter((route) => route.group === group).map(({ operation }) => operation)
    expect(sorted(records.map(({ operation }) => operation))).toEqual(sorted(operations))
    expect(grantedTo(group)).toEqual(linesOf(calls))
  },
)

test('only the access function writes tokens; others record the use of keys (A-88)', () => {
  const writing = Object.entries(functionGrants).flatMap(([name, { tables }]) =>
    tables
      .filter(
        ({ table, actions }) => table === 'tokens' && actions.some((action) => !/^(Get|BatchGet|Query)/.test(action)),
      )
      .map(({ keys }) => [name, keys]),
  )
  expect(writing).toEqual([
    ['access', undefined],
    ...['fields', 'categories', 'storage', 'webhooks'].map((name) => [name, 'used#*']),
  ])
})

test('the removal worker has exactly the permissions that it uses', async () => {
  const calls = await callsOf(async (repeat, dynamodb, plain) => {
    const { deps } = openStorageOver(dynamodb, { telemetry: { request: () => undefined } })
    const task = { site: 1001 as SiteId, path: toStoragePath('large'), id: 'removal' }
    await storesOver(plain).removals.open(task.site, task.path, task.id, entry)
    const work = () => continueRemoval(deps, { task, name: 'message' }, unlimited, 60_000)
    await repeat(work)
    // A message that comes late or again reads the outcome of the removal.
    await repeat(async () => expect(await work()).toBeUndefined())
    await removeAndRecount(repeat, dynamodb, storesOver(plain), deps)
  })
  expect(grantedTo('removals')).toEqual(linesOf(calls))
})
