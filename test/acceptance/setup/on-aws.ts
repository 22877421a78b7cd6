import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { S3RequestPresigner } from '@aws-sdk/s3-request-presigner'
import { HttpRequest } from '@smithy/core/protocols'
import type { Context } from 'aws-lambda'
import { createWebhooksHandler } from '../../../functions/webhooks/group.ts'
import { createKmsSeals } from '../../../lib/aws/kms-seals.ts'
import { type GatewayEvent, type LambdaHandler, lambdaHandler } from '../../../lib/aws/lambda/gateway.ts'
import { createRemovalWorker } from '../../../lib/aws/lambda/removal-worker.ts'
import { createWebhookWorker } from '../../../lib/aws/lambda/webhook-worker.ts'
import { openFileStores } from '../../../lib/aws/open-files.ts'
import {
  openAccessStores,
  openCategoriesStores,
  openDirectory,
  openFieldsStores,
  openJournal,
  openSites,
  openUploads,
  openWebhooks,
} from '../../../lib/aws/open-tables.ts'
import type { WebhookQueue } from '../../../lib/aws/sqs-queues.ts'
import { groupAt, type prefixes } from '../../../lib/contract/routes/routes.ts'
import { createTurns } from '../../../lib/core/in-parallel.ts'
import { systemClock } from '../../../lib/core/time.ts'
import type { Handler } from '../../../lib/http/request.ts'
import { createWebhooksDeps } from '../../../lib/service/deps.ts'
import type { RemovalQueue } from '../../../lib/storage/path-locks.ts'
import { createTarget } from '../../../lib/webhooks/target.ts'
import { createFastClients } from '../../support/bucket.ts'
import { openHandler } from '../../support/handlers.ts'
import { listen } from '../../support/listen.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { answerKms } from '../../support/memory-kms.ts'
import { createMemoryS3 } from '../../support/memory-s3.ts'
import type { S3Request } from '../../support/s3-messages.ts'
import { stackAnswer } from '../../support/stack-answer.ts'
import { aroundCommands } from '../../support/store-faults.ts'
import { tableSettings } from '../../support/tables.ts'
import { openTestDirectory } from './directory.ts'
import type { StartedHere } from './target.ts'

// The functions of two data centres, with tables and a bucket in memory, behind a gateway.

const s3 = createMemoryS3()

/** Signs a request again. The two signatures are equal only if nobody changed the address or a signed header. */
const isSigned = async ({ method, path, query = {}, headers }: S3Request): Promise<boolean> => {
  const signingDate = new Date(String(query['X-Amz-Date']).replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:'))
  if (Number.isNaN(signingDate.valueOf())) return false
  const checksum = 'x-amz-checksum-sha256'
  const signedHeaders = { host: headers['host'] ?? '', ...(headers[checksum] && { [checksum]: headers[checksum] }) }
  const request = new HttpRequest({ method, path, query: { ...query }, headers: signedHeaders })
  const options = { signingDate, expiresIn: Number(query['X-Amz-Expires']), unhoistableHeaders: new Set([checksum]) }
  const signed = await new S3RequestPresigner(clients.client.config).presign(request, options)
  return isDeepStrictEqual(signed.query, query)
}

const answerS3 = async (request: S3Request, response: ServerResponse): Promise<void> => {
  if (request.headers['authorization'] === undefined && !(await isSigned(request))) {
    response.writeHead(403).end()
    return
  }
  const { statusCode, headers, body } = (await s3.requestHandler.handle(request)).response
  for (const name of ['content-type', 'content-disposition']) {
    const wanted = request.query?.[`response-${name}`]
    if (wanted) response.setHeader(name, String(wanted))
  }
  for (const [name, value] of Object.entries(headers)) if (!response.hasHeader(name)) response.setHeader(name, value)
  body.pipe(response.writeHead(statusCode))
}

const memory = openMemoryTables(() => clock.wall())

// A server that ends idle connections may end one at the moment in which a request arrives.
const options = { keepAliveTimeout: 0 }

/** Answers requests that other processes send to DynamoDB, KMS, CloudFormation and S3. */
const endpoint = createServer(options, async (request, response) => {
  const body = Buffer.concat(await request.toArray())
  const { headers, method = 'GET', url = '/' } = request
  const target = headers['x-amz-target']
  if (memory.answerCall(target, body, response) || answerKms(target, body, response)) return
  if (headers['content-type']?.startsWith('application/x-www-form-urlencoded')) {
    response.writeHead(200, { 'Content-Type': 'text/xml' }).end(stackAnswer())
    return
  }
  const [path = '/', query = ''] = url.split('?')
  const asked = { method, path, query: Object.fromEntries(new URLSearchParams(query)), headers, body }
  answerS3(asked as S3Request, response).catch(() => response.destroy())
})

const endpointUrl = await listen(endpoint)
const dynamodb = memory.connect()
const given = { dynamodb, once: memory.connect(1) }
const tables = tableSettings(memory.names)
const clients = createFastClients('files', s3, { endpoint: endpointUrl })

/** Milliseconds by which the clock of the functions is ahead of real time. */
let ahead = 0
const clock = { ...systemClock, wall: () => Date.now() + ahead }
/** Milliseconds by which only the clock of the caches is ahead of the functions. */
let skipped = 0
const clockOfMemory = { ...clock, monotonic: () => performance.now() + skipped }
// Concurrent cases share the clock, so they advance it in turns.
const inTurns = createTurns({ atOnce: 1 })

const later: StartedHere['later'] = (seconds, send) =>
  inTurns(async () => {
    ahead = seconds * 1000
    skipped += ahead
    try {
      return await send()
    } finally {
      ahead = 0
    }
  })

const context = { getRemainingTimeInMillis: () => 28_000 } as Context

const settings = {
  ...tables,
  largestFile: Number(process.env['LARGEST_FILE']),
  largestResumableFile: 5 * 1024 ** 3,
  reservedFolders: ['_System', 'Layouts', 'ModuleTemplates', 'Templates', 'StyleSheets'],
  longestList: 20_000,
  keptDays: 30,
  filesBucket: 'files',
  removalsQueueUrl: 'http://127.0.0.1/removals',
  logLevel: 'ERROR',
  pathEncoding: 'encoded',
  binaryAccept: 'any',
} as const

/** Delivers each message after its delay. */
const createQueue = (): RemovalQueue => {
  let count = 0
  const queue: RemovalQueue = {
    async send({ site, path, id }, delay) {
      const messageId = String(++count)
      const body = JSON.stringify({ site: String(site), path, id })
      void sleep(delay * 1000, undefined, { ref: false }).then(() =>
        worker({ Records: [{ body, messageId }] } as never, context),
      )
      return messageId
    },
  }
  const worker = createRemovalWorker({
    ...openFileStores(settings, { ...given, s3: clients }),
    removalQueue: queue,
    clock: systemClock,
  })
  return queue
}
const removalQueue = createQueue()

const seals = createKmsSeals('key', {
  endpoint: endpointUrl,
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
})
const target = createTarget({ permitsPrivate: true })

const openWebhookStores = (dataCentre: string) => {
  const here = { ...settings, dataCentre }
  const { leases, ...ofWebhooks } = openWebhooks(here, { dynamodb, now: clock.wall })
  const stores = { ...openDirectory(here, { dynamodb }), ...ofWebhooks, seals }
  const deps = createWebhooksDeps(here, stores, { telemetry: { request: () => {} }, clock, target })
  return { deps, leases }
}

/** Sends the events of the stream of the history and of the queue to the worker of webhooks. */
const startWebhooks = () => {
  const { deps, leases } = openWebhookStores('us')
  let count = 0
  const invoke = (Records: readonly object[]) => {
    work({ Records } as never, context).catch(console.error)
  }
  const queue: WebhookQueue = {
    async send({ site, webhook }, delay) {
      const record = { messageId: String(++count), body: JSON.stringify({ site: String(site), webhook }) }
      void sleep(delay * 1000, undefined, { ref: false }).then(() => invoke([record]))
    },
  }
  const work = createWebhookWorker({ ...deps, leases, queue })
  aroundCommands(dynamodb, 'call', async (send, { input }) => {
    const done = await send()
    const { TableName, Key } = input as { readonly TableName?: string; readonly Key?: { readonly site: number } }
    const Keys = { site: { N: String(Key?.site) } }
    if (TableName === settings.journalTable && Key) invoke([{ eventSource: 'aws:dynamodb', dynamodb: { Keys } }])
    return done
  })
}
startWebhooks()

type Group = (typeof prefixes)[number]['group']

const functionsOf = (dataCentre: string): Readonly<Record<Group, LambdaHandler>> => {
  const here = { ...settings, dataCentre }
  const surroundings = { telemetry: { request: () => {} } }
  const consoleFolder = join(import.meta.dirname, '..', '..', '..', 'console', 'dist')
  const uploads = openUploads(here, { dynamodb })
  const { downloads, linkTo, ...files } = openFileStores(here, { ...given, s3: clients, ...uploads })
  const stores = { ...openDirectory(here, { dynamodb }), ...files, removalQueue, ...uploads }
  const sites = openSites(here, { dynamodb })
  const people = openAccessStores(here, { dynamodb, now: clock.wall })
  const forms = openFieldsStores(here, { dynamodb })
  const contents = openCategoriesStores(here, { dynamodb })
  const ofPages = { ...here, dataCentres: ['us', 'eu'], downloadsUrl: endpointUrl }
  const ofStorage = { ...surroundings, clock, downloads, linkTo, lease: { lasts: 33_000 } }
  const handlers = {
    documentation: openHandler.documentation(ofPages, { sites }, { ...surroundings, consoleFolder }),
    access: openHandler.access(here, people, { ...surroundings, clock, insecureSignIn: true }),
    fields: openHandler.fields(here, forms, { ...surroundings, clock: clockOfMemory }),
    categories: openHandler.categories(here, contents, surroundings),
    storage: openHandler.storage(here, stores, ofStorage),
    webhooks: createWebhooksHandler(openWebhookStores(dataCentre).deps),
  } satisfies Record<Group, Handler>
  const functionOf = ([group, handler]: readonly [string, Handler]) => [group, lambdaHandler(handler)]
  return Object.fromEntries(Object.entries(handlers).map(functionOf))
}

const valuesByName = (pairs: Iterable<readonly [string, string]>): Record<string, string[]> => {
  const groups = Map.groupBy(pairs, ([name]) => name)
  return Object.fromEntries([...groups].map(([name, found]) => [name, found.map(([, value]) => value)]))
}

/** The event of a REST API: an undecoded path, a decoded query, and a body in base64 without its length. */
const eventOf = (request: IncomingMessage, body: Buffer): GatewayEvent => {
  const { method = 'GET', url = '/', rawHeaders } = request
  const at = url.indexOf('?')
  const path = at < 0 ? url : url.slice(0, at)
  const headers = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && name.toLowerCase() !== 'content-length' ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
  )
  return {
    httpMethod: method,
    path,
    multiValueHeaders: valuesByName(headers),
    multiValueQueryStringParameters: at < 0 ? null : valuesByName(new URLSearchParams(url.slice(at))),
    body: body.length > 0 ? body.toString('base64') : null,
    isBase64Encoded: body.length > 0,
    // Cases choose the address of their caller.
    requestContext: { identity: { sourceIp: String(request.headers['x-forwarded-for'] ?? '127.0.0.1') } },
  }
}

const openGateway = (dataCentre: string): Server => {
  const functions = functionsOf(dataCentre)
  return createServer(options, (request, response) => {
    const answer = async () => {
      const event = eventOf(request, Buffer.concat(await request.toArray()))
      const { statusCode, headers, body, isBase64Encoded } = await functions[groupAt(event.path)](event, context)
      const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')
      response.writeHead(statusCode, { 'Content-Length': bytes.length, ...headers }).end(bytes)
    }
    answer().catch((error: unknown) => {
      console.error(error)
      response.destroy()
    })
  })
}

const stores = openDirectory(settings, { dynamodb, record: openJournal(settings, { dynamodb }).record })
const [us, eu] = await Promise.all(['us', 'eu'].map((id) => listen(openGateway(id))))
const region = 'us-east-1'
await stores.sites.putDataCentre({ id: 'us', url: us ?? '', region, isDefault: true })
await stores.sites.putDataCentre({ id: 'eu', url: eu ?? '', region, isDefault: false })
const directory = openTestDirectory(stores)
const token = await directory.issueToken([await directory.createSite('Acceptance')], ['files'])
const environment = {
  AWS_ENDPOINT_URL: endpointUrl,
  AWS_REGION: region,
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
}
const admin = { args: ['--target', 'aws'], environment }
export const service: StartedHere = { baseUrl: us ?? '', token, later, directory, admin }
