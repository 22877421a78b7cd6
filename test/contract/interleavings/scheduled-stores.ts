import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { Scheduler } from 'fast-check'
import { createCategoriesHandler } from '../../../functions/categories/group.ts'
import { createFieldsHandler } from '../../../functions/fields/group.ts'
import { createStorageHandler } from '../../../functions/storage/group.ts'
import { hashToken, newToken } from '../../../lib/access/grants.ts'
import { openFileStores } from '../../../lib/aws/open-files.ts'
import { openAreas, openDirectory, openUploads } from '../../../lib/aws/open-tables.ts'
import { createS3Clients } from '../../../lib/aws/s3/bucket.ts'
import { withDefaults } from '../../../lib/core/content-kinds.ts'
import type { SiteId, WebFormId } from '../../../lib/core/ids.ts'
import type { Handler } from '../../../lib/http/request.ts'
import { createCategoriesDeps, createFieldsDeps, createStorageDeps } from '../../../lib/service/deps.ts'
import { inMemory } from '../../support/bucket.ts'
import { openDynalite } from '../../support/dynalite.ts'
import { type Request, send } from '../../support/gateway.ts'
import { entry, unrecorded } from '../../support/history.ts'
import { createMemoryS3 } from '../../support/memory-s3.ts'
import type { S3Request } from '../../support/s3-messages.ts'
import { createTables, tableSettings } from '../../support/tables.ts'

/**
 * The fate of a call: the store answers; it carries out the call but its answer is lost; it refuses for now; or the
 * caller is frozen before the call for longer than a lease lasts.
 */
export type Fate = 'answered' | 'lost' | 'refused' | 'stopped'

/** Milliseconds. */
const stop = 20_000

/** A planted bug: the store ignores this part of a call. */
export type Plant = 'no condition of S3' | 'no condition of DynamoDB' | 'no lease of uploads'

/** The clock of a test, and the same clock in whole seconds, for S3. */
export interface Time {
  now: number
}

interface Run {
  readonly scheduler: Scheduler
  /** One fate per call, in the order of their turns. Later calls are answered. */
  readonly fates: Iterator<Fate>
}

const failure = (name: string, status: number) =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode: status }, $response: { statusCode: status } })

/** Each call to a store waits for the turn that the scheduler gives it. */
export const createTurns = (time: Time) => {
  const caller = new AsyncLocalStorage<string>()
  let run: Run | undefined
  let moves = 0

  /** Waits until all callers only wait for their turns. */
  const settle = async (): Promise<void> => {
    for (let seen = -1, quiet = 0; quiet < 4; ) {
      await turn()
      quiet = moves === seen ? quiet + 1 : 0
      seen = moves
    }
  }

  const take = async <Value>(label: string, call: () => Promise<Value>): Promise<Value> => {
    if (!run) return call()
    const { scheduler, fates } = run
    moves += 1
    await scheduler.schedule(Promise.resolve(), `${caller.getStore()}: ${label}`)
    const { value: fate = 'answered' } = fates.next()
    time.now += fate === 'stopped' ? stop : 7
    try {
      if (fate === 'refused') throw failure('SlowDown', 503)
      const value = await call()
      if (fate === 'lost') throw failure('TimeoutError', 500)
      return value
    } finally {
      moves += 1
    }
  }

  return {
    take,
    settle,
    /** Lets calls wait for turns while `work` runs. */
    async during<Value>(next: Run, work: () => Promise<Value>): Promise<Value> {
      run = next
      try {
        return await next.scheduler.waitFor(work())
      } finally {
        run = undefined
      }
    },
    as: <Value>(name: string, work: () => Promise<Value>): Promise<Value> => caller.run(name, work),
  }
}
export type Turns = ReturnType<typeof createTurns>

const conditional = /^(x-amz-copy-source-)?if-(none-)?match$/

const withoutConditions = (request: S3Request): S3Request => {
  const headers = Object.entries(request.headers).filter(([name]) => !conditional.test(name))
  return { ...request, headers: Object.fromEntries(headers) }
}

/** Drops the conditions of writes. */
const plantInTables = (dynamodb: DynamoDBDocumentClient, plant: Plant | undefined): void => {
  dynamodb.middlewareStack.add(
    (next) => (args) => {
      const isUpload = Reflect.get(args.input, 'TableName') === 'uploads'
      const isUnconditional = plant === 'no condition of DynamoDB' || (plant === 'no lease of uploads' && isUpload)
      if (isUnconditional) Reflect.deleteProperty(args.input, 'ConditionExpression')
      return next(args)
    },
    { step: 'initialize', priority: 'low', name: 'plant' },
  )
}

const openStores = async (turns: Turns, plant: Plant | undefined) => {
  const s3 = createMemoryS3()
  const { connect, close } = openDynalite()
  const tables = await createTables(connect())
  const requestHandler: typeof s3.requestHandler = {
    handle: (request, options) =>
      turns.take(`${request.method} ${request.path} ${JSON.stringify(request.query ?? {})}`, () =>
        s3.requestHandler.handle(plant === 'no condition of S3' ? withoutConditions(request) : request, options),
      ),
  }
  const dynamodb = connect()
  dynamodb.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) =>
        turns.take(`${commandName} ${Reflect.get(args.input, 'TableName') ?? ''}`, () => next(args)),
    { step: 'deserialize', priority: 'high', name: 'turns' },
  )
  plantInTables(dynamodb, plant)
  return { dynamodb, s3Clients: createS3Clients({ ...inMemory(s3), requestHandler }), tables, close }
}

const settings = {
  dataCentre: 'us',
  longestList: 20_000,
  largestFile: 100_000,
  largestResumableFile: 100_000,
  reservedFolders: [],
  filesBucket: 'files',
  keptDays: 30,
  removalsQueueUrl: '',
}

export const webForm = 1
export const category = 5
export const objects = [1, 2] as const

const prefixes = { storage: '/api/v2/admin', tables: '/webresources/api/v3', fields: '/api/v1/admin' } as const
type Group = keyof typeof prefixes

const groupOf = (path: string): Group => {
  if (path.startsWith('webforms/')) return 'fields'
  return /^(categories|news)\//.test(path) ? 'tables' : 'storage'
}

export interface ScheduledSite {
  /** `path`: below the site. */
  request(method: string, path: string, request?: Request): ReturnType<typeof send>
}

/** The file operations of several functions over the same tables and the same bucket. */
export const openScheduledStores = async (turns: Turns, time: Time, plant?: Plant) => {
  const { dynamodb, s3Clients, tables, close } = await openStores(turns, plant)
  const all = { ...settings, ...tableSettings(tables) }
  const given = { dynamodb, now: () => time.now }
  const clock = { wall: given.now, monotonic: given.now }
  const refuse = () => Promise.reject(new Error('No interleaving needs this'))

  const { webForms, contents, ...areas } = openAreas(all, given)
  const unseen = openAreas(all, { ...given, record: unrecorded })
  const openFunctions = (): Readonly<Record<Group, Handler>> => {
    const { downloads: _, linkTo: __, ...files } = openFileStores(all, { ...given, s3: s3Clients })
    const directory = openDirectory(all, given)
    const stores = { ...directory, ...areas, ...files, ...openUploads(all, given), removalQueue: { send: refuse } }
    const surroundings = { telemetry: { request: () => {} }, clock }
    return {
      storage: createStorageHandler(createStorageDeps(all, stores, { ...surroundings, linkTo: refuse })),
      fields: createFieldsHandler(createFieldsDeps(all, { ...stores, webForms }, surroundings)),
      tables: createCategoriesHandler(createCategoriesDeps(all, { ...stores, contents }, surroundings)),
    }
  }
  const functions = [openFunctions(), openFunctions()]
  const { sites, grants } = openDirectory(all, given)
  await sites.putDataCentre({ id: 'us', url: 'https://us.example.com', isDefault: true })
  let count = 1000

  const openSite = async (): Promise<ScheduledSite> => {
    count += 1
    const site = count as SiteId
    await sites.createSite({ id: site, name: 'Own', dataCentre: 'us', renderingEngine: true }, entry)
    const token = newToken()
    const expires = Math.floor(time.now / 1000) + 1_000_000
    await grants.put({ hash: hashToken(token), user: 'ann', sites: [site], permissions: ['files'], expires }, [])
    await unseen.webForms.create({ site, id: webForm as WebFormId, name: 'Contact us', fields: [] }, entry)
    await unseen.contents.putMany(site, 'category', [{ id: category, name: 'News' }], entry)
    const news = objects.map((id) => withDefaults('news', { id }, 0))
    await unseen.contents.putMany(site, 'news', news, entry)
    let requests = 0
    return {
      request(method, path, { headers, ...rest } = {}) {
        requests += 1
        const group = groupOf(path)
        const handlers = functions[requests % functions.length] as (typeof functions)[number]
        return send(handlers[group], method, `${prefixes[group]}/sites/${site}/${path}`, {
          ...rest,
          headers: { Authorization: token, ...headers },
        })
      },
    }
  }
  return { openSite, close }
}
