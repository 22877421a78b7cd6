import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { administrationGrants } from '../../cdk/config/grants.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { administer, jsonLines } from '../support/administration.ts'
import { actionsNeededFor } from '../support/cloud-requests.ts'
import { commandSession, hashIn, sessionRecords, wordsOf } from '../support/command-session.ts'
import { scratchDirectory } from '../support/directory.ts'
import { storesOver } from '../support/every-operation.ts'
import { answerInPlaceOfAws } from '../support/listen.ts'
import { openMemoryTables } from '../support/memory-dynamodb.ts'
import { answerKms } from '../support/memory-kms.ts'
import { createMemoryS3 } from '../support/memory-s3.ts'
import type { S3Request } from '../support/s3-messages.ts'
import { stackAnswer } from '../support/stack-answer.ts'
import { type Call, callsIn, linesOf } from './support/record-calls.ts'

const folder = scratchDirectory(afterAll)
const records = join(folder, 'records')
const exported = join(folder, 'exported')

const calls: Call[] = []
const actions = new Set<string>()
const s3 = createMemoryS3()
const { connect, answerCall } = openMemoryTables()
await answerInPlaceOfAws(async (request, response) => {
  const body = Buffer.concat(await request.toArray())
  const { headers, method = '', url = '' } = request
  const target = headers['x-amz-target']
  const action = new URLSearchParams(body.toString()).get('Action')
  if (action === null && target === undefined) {
    const [path = '', search] = url.split('?')
    const query = Object.fromEntries(new URLSearchParams(search))
    const asked = { method, parameters: Object.keys(query), headers: Object.keys(headers), target: null }
    for (const needed of actionsNeededFor(asked)) actions.add(needed)
    const { response: answer } = await s3.requestHandler.handle({ method, path, query, headers, body } as S3Request)
    answer.body.pipe(response.writeHead(answer.statusCode, answer.headers))
  } else if (action === null) {
    if (answerKms(target, body, response)) return
    calls.push(...callsIn({ headers, body }))
    answerCall(target, body, response)
  } else {
    actions.add(`cloudformation:${action}`)
    response.writeHead(200, { 'Content-Type': 'text/xml' }).end(stackAnswer())
  }
}, afterAll)

beforeAll(async () => {
  // Registers the data centre as a deployment does.
  const { sites, grants } = storesOver(connect())
  await sites.putDataCentre({ id: 'us', url: 'https://us.example.com', region: 'us-east-1', isDefault: true })
  // The tokens have expired, so that removing their site does not wait until caches forget them.
  const expired = { user: 'ann', permissions: [], expires: 1 }
  await grants.put({ ...expired, hash: 'b', sites: [1001 as SiteId] }, [])
  await grants.put({ ...expired, hash: 'a', sites: [1001, 1002] as SiteId[] }, [])
  writeFileSync(records, jsonLines(sessionRecords))
  calls.length = 0
})

afterAll(() => void vi.useRealTimers())

const administerJson = async (...args: readonly string[]) => {
  const { status, stdout, stderr } = await administer(folder, ['--target', 'aws', '--json', ...args])
  expect({ args, status, stderr: status === 0 ? '' : stderr }).toEqual({ args, status: 0, stderr: '' })
  return JSON.parse(stdout)
}

test('the policy allows only the calls that the commands make (T-2)', async () => {
  const values = { records, exported, hash: '' }
  for (const [line, answer] of commandSession) {
    const printed = await administerJson(...wordsOf(line, values))
    expect({ line, printed }).toEqual({ line, printed: answer })
    values.hash = hashIn(printed) ?? values.hash
  }
  const ofSite = ['--site', '1001']
  const created = ['webhook', 'create', ...ofSite, '--url', 'https://example.com/']
  const { id } = await administerJson(...created)
  await administerJson('webhook', 'change', id, ...ofSite, '--rotate')
  await administerJson('webhook', 'remove', id, ...ofSite)
  await administerJson(...created)
  await s3.requestHandler.handle({ method: 'PUT', path: '/files/live/1001/a.txt', headers: {}, body: 'a' })
  // Tokens that were revoked less than a minute ago would delay the removal.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 })
  expect(await administerJson('site', 'remove', '1001', '--yes')).toEqual({ removed: true })
  const changes: readonly { readonly type: string }[] = await administerJson('audit', '--site', '1001')
  const types = commandSession.flatMap(([, , history = []]) => history)
  const ofWebhooks = ['webhook.created', 'webhook.changed', 'webhook.removed', 'webhook.created']
  const ofRemoval = ['token.changed', 'token.removed', 'site.removed']
  expect(changes.map(({ type }) => type)).toEqual([...types, ...ofWebhooks, ...ofRemoval])
  const granted = administrationGrants.tables.flatMap(({ actions: names, ...place }) =>
    names.map((action) => ({ ...place, action })),
  )
  expect(linesOf(granted)).toEqual(linesOf(calls))
  const onFiles = administrationGrants.files.map((action) => `s3:${action}`)
  expect([...actions].sort()).toEqual(['cloudformation:DescribeStacks', ...onFiles].sort())
})

test('the used bytes of a site are null after it loses its quota (T-57)', async () => {
  await administerJson('site', 'create', '--name', 'Counted', '--id', '9', '--quota', '5')
  expect(await administerJson('site', 'show', '9')).toMatchObject({ quota: 5, usedBytes: 0 })
  await administerJson('site', 'quota', '9', 'none')
  expect(await administerJson('site', 'show', '9')).toMatchObject({ quota: null, usedBytes: null })
  await administerJson('site', 'remove', '9', '--yes')
})

test('a new site does not get the used bytes of a removed site with its id (S-126)', async () => {
  const create = () => administerJson('site', 'create', '--name', 'Small', '--id', '10', '--quota', '5')
  const remove = () => administerJson('site', 'remove', '10', '--yes')
  await create()
  await storesOver(connect()).usage.reserve(10 as SiteId, 5, { bytes: 5 })
  await remove()
  await create()
  expect(await administerJson('site', 'show', '10')).toMatchObject({ quota: 5, usedBytes: 0 })
  await remove()
})
