import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readdirSync, readFileSync } from 'node:fs'
import type { ClientRequest } from 'node:http'
import { join } from 'node:path'
import type { Context, ScheduledEvent, SQSEvent } from 'aws-lambda'
import { beforeAll, expect, it } from 'vitest'
import { type FunctionName, functionName, functionNames } from '../../../cdk/config/functions.ts'
import { functionGrants, keyActions } from '../../../cdk/config/grants.ts'
import { handler as removalsFunction } from '../../../functions/entries/removals.ts'
import { handler as storageFunction } from '../../../functions/entries/storage.ts'
import { createSiteDirectory } from '../../../lib/aws/dynamodb/directory-stores.ts'
import { createDocumentClient } from '../../../lib/aws/dynamodb/dynamodb.ts'
import { createFolderRemovals } from '../../../lib/aws/dynamodb/folder-removals.ts'
import { createUsageCounts } from '../../../lib/aws/dynamodb/usage-counts.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { actionsNeededFor, type CloudRequest, watchCloudRequests } from '../../support/cloud-requests.ts'
import { entry, unrecorded } from '../../support/history.ts'
import { latecomer, sendEvent } from '../../support/lambda.ts'
import { formHeaders, multipart } from '../../support/multipart.ts'
import { deployment, storage } from '../support/deployment.ts'
import { fillFolder } from '../support/fill-folder.ts'

const sorted = (lines: Iterable<string>) => [...new Set(lines)].sort()

const grantedTo = (name: FunctionName): string[] => {
  const { tables, files = [], queue } = functionGrants[name]
  return sorted([
    ...tables.flatMap(({ actions }) => actions.map((action) => `dynamodb:${action}`)),
    ...files.map((action) => `s3:${action}`),
    ...(queue?.actions ?? []).map((action) => `sqs:${action}`),
    ...(name === 'webhooks' ? keyActions : []).map((action) => `kms:${action}`),
    ...(name === 'access' ? ['ssm:GetParameter'] : []),
  ])
}

/** Lambda makes these calls with the permissions of the queue's worker ("Using Lambda with Amazon SQS"). */
const readingQueue = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes']
const byThePlatform: Partial<Record<FunctionName, readonly string[]>> = {
  removals: readingQueue,
  webhooks: readingQueue,
}

/** All requests that the deployed functions of this kind have sent, in all data centres. */
const recordedOf = (name: FunctionName): CloudRequest[] => {
  const folder = process.env['DEPLOYED_RECORDINGS'] ?? ''
  const files = readdirSync(folder).filter((file) => file.includes(functionName(name)))
  const lines = files.flatMap((file) => readFileSync(join(folder, file), 'utf8').trim().split('\n'))
  return lines.map((line) => JSON.parse(line))
}

/** Fails every matching request before it is sent, so it is never carried out. */
const breaking = async (isMeant: (request: ClientRequest) => boolean, run: () => Promise<unknown>): Promise<void> => {
  const listen = (message: unknown) => {
    const { request } = message as { readonly request: ClientRequest }
    const error = Object.assign(new Error('The test has broken the connection'), { code: 'ECONNRESET' })
    if (isMeant(request)) request.once('socket', (socket) => socket.destroy(error))
  }
  subscribe('http.client.request.created', listen)
  try {
    await run()
  } finally {
    unsubscribe('http.client.request.created', listen)
  }
}

const headers = { Authorization: deployment.token }
const call = (method: string, path: string, options: Parameters<typeof sendEvent>[3] = {}) =>
  sendEvent(storageFunction, method, `${storage}${path}`, { ...options, headers: { ...headers, ...options.headers } })

/** A page whose old draft cannot be removed during publication: the stored version is undone. */
const failToPublish = async (): Promise<void> => {
  expect((await call('PUT', '/page.html', { body: 'draft', query: { version: 'draft' } })).status).toBe(200)
  const isRemoval = ({ method, path }: ClientRequest) => method === 'DELETE' && path.includes('/draft/')
  await breaking(isRemoval, async () => expect((await call('PUT', '/page.html', { body: 'live' })).status).toBe(503))
}

/** Sends more bytes than may wait in memory, and then breaks off. The bytes in S3 are discarded. */
const breakOff = async (): Promise<void> => {
  const content = Buffer.alloc(4_400_000)
  const whole = multipart(Array.from({ length: 9 }, (_, index) => ({ name: `${index}.bin`, content })))
  const { status } = await call('POST', '/broken', {
    headers: formHeaders,
    body: whole.subarray(0, -10).toString('base64'),
    isBase64Encoded: true,
  })
  expect(status).toBe(400)
}

/** Deletes a large folder in a request whose time is nearly over, so the worker must continue. */
const removeByQueue = async (folder: string): Promise<void> => {
  await fillFolder(folder, 2_001)
  expect((await call('DELETE', `/${folder}`, { remaining: latecomer() })).status).toBe(202)
}

/** The id of the open removal, or of one that begins now. */
const openRemoval = async (folder: string): Promise<string> => {
  const dynamodb = createDocumentClient()
  const removals = createFolderRemovals({ dynamodb, table: deployment.pathLocksTable, record: unrecorded })
  const id = await removals.open(deployment.site, toStoragePath(folder), 'removal', entry)
  dynamodb.destroy()
  return id
}

/** Lets the worker continue the removal of a folder. `time` is its remaining time in milliseconds. */
const work = async (path: string, time: number): Promise<void> => {
  const body = JSON.stringify({ site: String(deployment.site), path, id: await openRemoval(path) })
  const event = { Records: [{ body, messageId: 'the message of the test' }] } as SQSEvent
  await removalsFunction(event, { getRemainingTimeInMillis: () => time } as Context)
}

/** Fails the batch removal and the single removals of a folder, so the worker waits. */
const failToRemove = (folder: string): Promise<void> =>
  breaking(
    ({ method }) => method === 'DELETE',
    () => work(folder, 90_000),
  )

/** All requests that this process sends during `run`. A function would send the same requests. */
const sentBy = async (run: () => Promise<void>): Promise<CloudRequest[]> => {
  const sent: CloudRequest[] = []
  const stop = watchCloudRequests((request) => void sent.push(request))
  await run()
  stop()
  return sent
}

/** Starts the function on its schedule: it prepares the count of a site with a quota, and ends its recount. */
const recount = async (): Promise<readonly CloudRequest[]> => {
  const dynamodb = createDocumentClient()
  const { site, sitesTable, pathLocksTable } = deployment
  const sites = createSiteDirectory({ dynamodb, table: sitesTable, record: unrecorded })
  const run = () => removalsFunction({} as ScheduledEvent, { getRemainingTimeInMillis: () => 90_000 } as Context)
  await sites.setQuota(site, 1e12, entry)
  const sent = await sentBy(run)
  const halfAnHourAgo = Date.now() - 30 * 60_000
  const counts = createUsageCounts({ dynamodb, table: pathLocksTable })
  const [{ epoch = 0 } = {}] = await counts.readAll([site])
  await counts.setIn(site, epoch, { epoch: epoch + 1, since: 0, begun: halfAnHourAgo })
  sent.push(...(await sentBy(run)))
  expect(await counts.bytesOf(site)).toBeGreaterThan(0)
  await sites.setQuota(site, undefined, entry)
  dynamodb.destroy()
  return sent
}

const seen: Partial<Record<FunctionName, CloudRequest[]>> = {}

// Rare cases that cannot be provoked from outside.
beforeAll(async () => {
  seen.storage = [
    ...(await sentBy(failToPublish)),
    ...(await sentBy(breakOff)),
    ...(await sentBy(() => removeByQueue('full'))),
  ]

  expect((await call('PUT', '/odd/%EF%BF%BE.txt', { body: 'x' })).status).toBe(200)
  seen.removals = [
    ...(await sentBy(() => work('full', 30_000))),
    ...(await sentBy(() => failToRemove('odd'))),
    ...(await recount()),
  ]
})

// test/cdk/grants.test.ts shows that each permission on a table is needed. Only with `--all`, somebody signs in at an
// issuer, whose secret is a parameter.
it.each(functionNames)('the function %s has exactly the permissions that it uses', (name) => {
  const requests = [...recordedOf(name), ...(seen[name] ?? [])]
  const needed = sorted([...requests.flatMap(actionsNeededFor), ...(byThePlatform[name] ?? [])])
  const unneeded = grantedTo(name).filter((action) => !/^(dynamodb|ssm):/.test(action) && !needed.includes(action))
  const missing = needed.filter((action) => !grantedTo(name).includes(action))
  expect({ unneeded, missing }).toEqual({ unneeded: [], missing: [] })
})
