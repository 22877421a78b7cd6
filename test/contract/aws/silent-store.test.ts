import { once } from 'node:events'
import { createServer as createHttpServer, type ServerResponse } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { HeadObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { smallCallTimeouts } from '../../../lib/aws/calls/client-calls.ts'
import { createDocumentClient } from '../../../lib/aws/dynamodb/dynamodb.ts'
import { createKmsSeals } from '../../../lib/aws/kms-seals.ts'
import { readParameter } from '../../../lib/aws/read-parameter.ts'
import { createS3Clients } from '../../../lib/aws/s3/bucket.ts'
import { createSqsQueue } from '../../../lib/aws/sqs-queues.ts'
import { readStackOutputs } from '../../../lib/aws/stack-outputs.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { listen, listenInTest } from '../../support/listen.ts'

/** A server that accepts connections and stays silent, or sends only the head of an answer. */

let says: string
const sockets = new Set<Socket>()
const server = createServer((socket) => {
  sockets.add(socket)
  socket.on('error', () => {})
  socket.on('data', () => socket.write(says))
})
const endpoint = await listen(server)
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  server.close()
  await once(server, 'close')
})

/** The time limits of the service, shortened. */
const config = (times: Partial<Record<keyof typeof smallCallTimeouts, number>>) => ({
  endpoint,
  region: 'local',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  maxAttempts: 2,
  requestHandler: { ...smallCallTimeouts, ...times, throwOnRequestTimeout: smallCallTimeouts.throwOnRequestTimeout },
})

type Config = ReturnType<typeof config>

const task = { site: 1 as SiteId, path: toStoragePath('large'), id: 'removal' }

const calls: Readonly<Record<string, (config: Config) => Promise<unknown>>> = {
  DynamoDB: (given) => createDocumentClient(given).send(new GetCommand({ TableName: 'table', Key: { id: '1' } })),
  SQS: (given) => createSqsQueue(`${given.endpoint}/queue`, given).send(task, 0),
  KMS: (given) => createKmsSeals('key', given).open({ site: 1 as SiteId, id: 'whk_1' }, 'c2VhbGVk'),
  S3: (given) => createS3Clients(given).client.send(new ListObjectsV2Command({ Bucket: 'bucket' })),
  'Systems Manager': (given) => readParameter('parameter', given),
  CloudFormation: (given) => readStackOutputs('stack', undefined, given),
}

describe.each(Object.entries(calls))('a store that is silent: %s', (_, call) => {
  const unavailable = { code: 100503, status: 503 }

  test('a call that gets no answer throws "unavailable"', async () => {
    says = ''
    await expect(call(config({ requestTimeout: 40, socketTimeout: 60_000 }))).rejects.toMatchObject(unavailable)
  })

  test('a call whose answer stops in the middle throws "unavailable"', async () => {
    says = 'HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 100\r\n\r\n{'
    await expect(call(config({ requestTimeout: 60_000, socketTimeout: 40 }))).rejects.toMatchObject(unavailable)
  })
})

test('a request has time for all attempts of a call, and for its answer', () => {
  const { connectionTimeout, requestTimeout, socketTimeout } = smallCallTimeouts
  expect(3 * (connectionTimeout + Math.max(requestTimeout, socketTimeout))).toBeLessThan(25_000 - 5_000)
})

test('the client for S3 gives up before the time limit of its function', async () => {
  says = ''
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { requestHandler: _, ...deployed } = config({})
  const { client } = createS3Clients(deployed)
  let isOver = false
  const asking = client.send(new HeadObjectCommand({ Bucket: 'silent', Key: 'a' }))
  asking.catch(() => {
    isOver = true
  })
  let elapsed = 0
  for (; !isOver; elapsed += 100) {
    await turn()
    await vi.advanceTimersByTimeAsync(100)
  }
  vi.useRealTimers()
  await expect(asking).rejects.toMatchObject({ code: 100503 })
  expect(elapsed).toBeLessThan(27_500)
})

test('100 calls to S3 have a connection at the same time', async () => {
  const waiting: ServerResponse[] = []
  let arrived = 0
  const server = createHttpServer((_, response) => {
    arrived += 1
    waiting.push(response)
    if (arrived >= 100) for (const each of waiting.splice(0)) each.end()
  })
  const { requestHandler: _, ...deployed } = { ...config({}), endpoint: await listenInTest(server) }
  const { client } = createS3Clients(deployed)
  const ask = () => client.send(new HeadObjectCommand({ Bucket: 'bucket', Key: 'a' }))
  await expect(Promise.all(Array.from({ length: 100 }, ask))).resolves.toHaveLength(100)
})
