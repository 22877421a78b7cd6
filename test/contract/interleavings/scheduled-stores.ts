import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import type { Scheduler } from 'fast-check'
import { createStorageHandler } from '../../../functions/storage/group.ts'
import { hashToken, newToken } from '../../../lib/access/grants.ts'
import { openFileStores } from '../../../lib/aws/open-files.ts'
import { openDirectory, openUploads } from '../../../lib/aws/open-tables.ts'
import { createS3Clients } from '../../../lib/aws/s3/bucket.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { Handler } from '../../../lib/http/request.ts'
import { createStorageDeps } from '../../../lib/service/deps.ts'
import { inMemory } from '../../support/bucket.ts'
import { openDynalite } from '../../support/dynalite.ts'
import { type Request, send } from '../../support/gateway.ts'
import { entry } from '../../support/history.ts'
import { createMemoryS3 } from '../../support/memory-s3.ts'
import { createTables, tableSettings } from '../../support/tables.ts'

/** What happens to a call: the store answers, or does it and the answer is lost, or it refuses for now. */
export type Fate = 'answered' | 'lost' | 'refused'

/** The clock of a test. The same for S3, which tells whole seconds. */
export interface Time {
  now: number
}

interface Run {
  readonly scheduler: Scheduler
  /** One for each call in the order of their turns; every later one is answered. */
  readonly fates: Iterator<Fate>
}

const failure = (name: string, status: number) =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode: status }, $response: { statusCode: status } })

/** Each call to a store waits for the turn that the scheduler gives it. */
export const createTurns = (time: Time) => {
  const caller = new AsyncLocalStorage<string>()
  let run: Run | undefined
  let moves = 0

  /** Waits until no caller does anything any more but wait for its turn. */
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
    time.now += 7
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

const openStores = async (turns: Turns) => {
  const s3 = createMemoryS3()
  const { connect, close } = openDynalite()
  const tables = await createTables(connect(), '')
  const requestHandler: typeof s3.requestHandler = {
    handle: (request, options) =>
      turns.take(`${request.method} ${request.path} ${JSON.stringify(request.query ?? {})}`, () =>
        s3.requestHandler.handle(request, options),
      ),
  }
  const dynamodb = connect()
  dynamodb.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) =>
        turns.take(`${commandName} ${Reflect.get(args.input, 'TableName') ?? ''}`, () => next(args)),
    { step: 'deserialize', priority: 'high', name: 'turns' },
  )
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

export interface ScheduledSite {
  request(method: string, path: string, request?: Request): ReturnType<typeof send>
}

/** The file operations of several functions over the same tables and the same bucket. */
export const openScheduledStores = async (turns: Turns, time: Time) => {
  const { dynamodb, s3Clients, tables, close } = await openStores(turns)
  const all = { ...settings, ...tableSettings(tables) }
  const given = { dynamodb, now: () => time.now }
  const clock = { wall: given.now, monotonic: given.now }
  const refuse = () => Promise.reject(new Error('No interleaving needs this'))

  const openFunction = (): Handler => {
    const { downloads: _, linkTo: __, ...files } = openFileStores(all, { ...given, s3: s3Clients })
    const stores = { ...openDirectory(all, given), ...files, ...openUploads(all, given), removalQueue: { send: refuse } }
    return createStorageHandler(
      createStorageDeps(all, stores, { telemetry: { request: () => {} }, clock, linkTo: refuse }),
    )
  }
  const functions = [openFunction(), openFunction()]
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
    let requests = 0
    return {
      request(method, path, { headers, ...rest } = {}) {
        requests += 1
        const handler = functions[requests % functions.length] as Handler
        const target = `/api/v2/admin/sites/${site}/${path}`
        return send(handler, method, target, { ...rest, headers: { Authorization: token, ...headers } })
      },
    }
  }
  return { openSite, close }
}
