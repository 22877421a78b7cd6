import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FunctionName } from '../../cdk/config/functions.ts'
import { tableGrants } from '../../cdk/config/grants.ts'
import { routes } from '../../lib/contract/routes/routes.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import type { RequestRecord } from '../../lib/http/request.ts'
import { continueRemoval } from '../../lib/storage/continue-removal.ts'
import { toStoragePath } from '../../lib/storage/path.ts'
import { exercises, fillDirectory, openStorageOver, perform, storesOver } from '../support/every-operation.ts'
import { entry } from '../support/history.ts'
import { openTestTables, type TestTables } from '../support/tables.ts'
import { linesOf, recordCalls } from './support/record-calls.ts'

const sorted = (names: Iterable<string>) => [...new Set(names)].sort()

const grantedTo = (name: FunctionName) =>
  linesOf(tableGrants[name].flatMap(({ actions, ...place }) => actions.map((action) => ({ ...place, action }))))

describe('each function is granted what its operations do to the tables, and nothing else', () => {
  let tables: TestTables
  let plain: DynamoDBDocumentClient
  let token: string

  beforeAll(async () => {
    tables = await openTestTables()
    plain = tables.connect()
    token = await fillDirectory(storesOver(plain))
  })

  afterAll(() => tables.close())

  test('every function is exercised', () => {
    expect(sorted([...exercises.map(({ group }) => group), 'removals'])).toEqual(sorted(Object.keys(tableGrants)))
  })

  test.each(exercises)('$group', async ({ group, open, fill, requests }) => {
    await fill(plain)
    const dynamodb = tables.connect()
    const calls = recordCalls(dynamodb)
    const records: RequestRecord[] = []
    const telemetry = { request: (record: RequestRecord) => void records.push(record) }
    const opened = await open(dynamodb, { telemetry })
    for (const request of requests) await perform(opened.handler, token, request)
    await opened.close()

    const operations = routes.filter((route) => route.group === group).map(({ operation }) => operation)
    expect(sorted(records.map(({ operation }) => operation))).toEqual(sorted(operations))
    expect(grantedTo(group)).toEqual(linesOf(calls))
  })

  test('removals', async () => {
    const dynamodb = tables.connect()
    const { deps, close } = await openStorageOver(dynamodb, { telemetry: { request: () => undefined } })
    const task = { site: 1001 as SiteId, path: toStoragePath('large'), id: 'removal' }
    await deps.removals.open(task.site, task.path, task.id, entry)
    const calls = recordCalls(dynamodb)
    const slice = { deadline: { isOver: () => false }, end: 60_000 }
    expect(await continueRemoval(deps, { task, name: 'message' }, slice)).toBeUndefined()
    // Late and repeated messages look at what became of the removal.
    expect(await continueRemoval(deps, { task, name: 'message' }, slice)).toBeUndefined()
    await close()
    expect(grantedTo('removals')).toEqual(linesOf(calls))
  })
})
