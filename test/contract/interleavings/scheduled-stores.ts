import { AsyncLocalStorage } from 'node:async_hooks'
import crypto, { randomUUID } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { setImmediate as turn } from 'node:timers/promises'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { Scheduler } from 'fast-check'
import { vi } from 'vitest'
import { issueGrant } from '../../../lib/access/grants.ts'
import { openFileStores } from '../../../lib/aws/open-files.ts'
import { openAccessStores, openAreas, openDirectory, openUploads } from '../../../lib/aws/open-tables.ts'
import { withDefaults } from '../../../lib/core/content-kinds.ts'
import { ServiceError } from '../../../lib/core/errors.ts'
import type { ChangeType, HistoryEntry } from '../../../lib/core/history-entry.ts'
import type { SiteId, WebFormId } from '../../../lib/core/ids.ts'
import { areas as areaNames } from '../../../lib/core/rights.ts'
import { unlimited } from '../../../lib/core/time.ts'
import type { Handler } from '../../../lib/http/request.ts'
import { continueRemoval, type RemovalMessage } from '../../../lib/storage/continue-removal.ts'
import { listAll } from '../../../lib/storage/many-objects.ts'
import type { RemovalTask } from '../../../lib/storage/object-store.ts'
import { folderKey, root } from '../../../lib/storage/path.ts'
import { answerOf } from '../../support/answer.ts'
import { createFastClients } from '../../support/bucket.ts'
import { type Request, send } from '../../support/gateway.ts'
import { openHandler } from '../../support/handlers.ts'
import { entry, unrecorded } from '../../support/history.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { createMemoryS3 } from '../../support/memory-s3.ts'
import { testPerson } from '../../support/people.ts'
import type { S3Request } from '../../support/s3-messages.ts'
import { aroundCommands } from '../../support/store-faults.ts'
import { tableSettings } from '../../support/tables.ts'
import { firstPeople } from './people-operations.ts'

/**
 * How the scheduler treats a call. `answered`: the store answers. `lost`: the store carries out the call, but its
 * answer is lost. `refused`: the store refuses for now. `slow`: leases are renewed meanwhile. `stopped`: all callers
 * pause before the call, for longer than a lease lasts. `late`: other callers get many turns before the call.
 */
export type Fate = 'answered' | 'lost' | 'refused' | 'slow' | 'stopped' | 'late'

/** The time of a call, in milliseconds. */
const durations: Readonly<Record<Fate, number>> = {
  ...{ answered: 7, lost: 7, refused: 7, late: 7 },
  ...{ slow: 6_000, stopped: 20_000 },
}

/** The caller of calls that a timer makes. */
const timer = 'timer'

/** Turns that other callers get before a late call. */
const lateness = 20

/** A planted bug: the stores ignore this part of a call. */
export type Plant =
  | 'no condition of S3'
  | 'no condition of DynamoDB'
  | 'no lease of uploads'
  | 'no take-over of uploads'
  | 'no renewal of leases'
  | 'no second check'

/** The clock of a test, and the same clock in whole seconds, for S3. */
export interface Time {
  now: number
}

interface Run {
  readonly scheduler: Scheduler
  /** The treatment of each call, in the order in which the calls get their turns. Later calls are answered. */
  readonly fates: Iterator<Fate>
  /** Calls that always come late. */
  readonly late?: RegExp | undefined
}

const failure = (name: string, status: number) =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode: status }, $response: { statusCode: status } })

// Threads compute the hashes of passwords. The scheduler does not know these threads, so the running ones are counted.
// Here a hash uses little memory, because the paths need thousands.
const { argon2 } = crypto
let hashes = 0
export const watchHashes = (isOn: boolean): void => {
  crypto.argon2 = (algorithm, parameters, answer) => {
    hashes += 1
    argon2(algorithm, { ...parameters, memory: 64, passes: 1 }, (error, hash) => {
      hashes -= 1
      answer(error, hash)
    })
  }
  if (!isOn) crypto.argon2 = argon2
  syncBuiltinESMExports()
}

/** Each call to a store waits for the turn that the scheduler gives it. */
export const createTurns = (time: Time) => {
  const caller = new AsyncLocalStorage<string>()
  let run: Run | undefined
  let moves = 0

  /** Waits until all callers only wait for their turns. */
  const settle = async (): Promise<void> => {
    for (let seen = -1, quiet = 0; quiet < 4; ) {
      await turn()
      quiet = moves === seen && hashes === 0 ? quiet + 1 : 0
      seen = moves
    }
  }

  const take = async <Value>(label: string, call: () => Promise<Value>): Promise<Value> => {
    // Renewals of leases are on time.
    if (!run || caller.getStore() === timer) return call()
    const { scheduler, fates, late } = run
    const wait = () => {
      moves += 1
      return scheduler.schedule(Promise.resolve(), `${caller.getStore()}: ${label}`)
    }
    await wait()
    const fate: Fate = fates.next().value ?? 'answered'
    for (let count = 0; (fate === 'late' || late?.test(label)) && count < lateness; count += 1) await wait()
    time.now += durations[fate]
    if (fate === 'slow') caller.run(timer, () => void vi.advanceTimersByTime(durations.slow))
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

const plantInTables = (dynamodb: DynamoDBDocumentClient, plant: Plant | undefined): void => {
  aroundCommands(dynamodb, 'call', (send, { input }) => {
    const isUpload = Reflect.get(input, 'TableName') === 'uploads'
    const isUnconditional = plant === 'no condition of DynamoDB' || (plant === 'no lease of uploads' && isUpload)
    if (isUnconditional) Reflect.deleteProperty(input, 'ConditionExpression')
    return send()
  })
}

/** Two keys per page make a folder of three objects large. S3 may return fewer keys than requested. */
const withSmallPages = (request: S3Request): S3Request => {
  const { query = {} } = request
  return query['list-type'] && !query['delimiter'] ? { ...request, query: { ...query, 'max-keys': '2' } } : request
}

const openStores = (turns: Turns, time: Time, { plant, hasSmallPages }: Options) => {
  const s3 = createMemoryS3()
  const requestHandler: typeof s3.requestHandler = {
    async handle(given, options) {
      const paged = hasSmallPages ? withSmallPages(given) : given
      const request = plant === 'no condition of S3' ? withoutConditions(paged) : paged
      const label = `${request.method} ${request.path} ${JSON.stringify(request.query ?? {})}`
      return turns.take(label, () => s3.requestHandler.handle(request, options))
    },
  }
  const tables = openMemoryTables(() => time.now)
  const [dynamodb, once] = [tables.connect(), tables.connect(1)]
  for (const client of [dynamodb, once]) {
    aroundCommands(client, 'attempt', (send, { name, input }) =>
      turns.take(`${name} ${Reflect.get(input, 'TableName') ?? ''}`, send),
    )
    plantInTables(client, plant)
  }
  const s3Clients = createFastClients(settings.filesBucket, { requestHandler }, { hasChecksums: false })
  return { dynamodb, once, s3Clients, all: { ...settings, ...tableSettings(tables.names) } }
}

/** In milliseconds. */
const longestRemoval = 60_000

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

const prefixes = {
  storage: '/api/v2/admin',
  access: '/api/v2/admin',
  tables: '/webresources/api/v3',
  fields: '/api/v1/admin',
} as const
type Group = keyof typeof prefixes

const groupOf = (path: string): Group => {
  if (path.startsWith('webforms')) return 'fields'
  if (/^(users|keys|\/)/.test(path)) return 'access'
  return /^(categories|news)\b/.test(path) ? 'tables' : 'storage'
}

export interface Options {
  readonly plant?: Plant | undefined
  readonly hasSmallPages?: boolean | undefined
  /** Sites have a quota that no change exceeds. */
  readonly hasQuota?: boolean | undefined
}

export interface Administration extends ReturnType<typeof openAreas> {
  readonly site: SiteId
  readonly entry: HistoryEntry
}

export type Secret = 'session' | 'key' | 'invitation'

export interface ScheduledSite {
  readonly id: SiteId
  /** Everything that callers have received, the newest last. */
  readonly secrets: Readonly<Record<Secret, string[]>>
  /** `path` is relative to the site. With a slash at its beginning, it is relative to the service. */
  request(method: string, path: string, request?: Request): ReturnType<typeof send>
  /** Makes a change of a command. A change that returns false is refused. */
  administer(
    type: ChangeType,
    subject: string,
    change: (given: Administration) => Promise<unknown>,
  ): ReturnType<typeof send>
  /** True from the beginning of the removal of a large folder until `finishRemovals`. */
  isRemoving(): boolean
  /** Completes removals, as the worker does after their requests have ended. */
  finishRemovals(): Promise<void>
  /** The bytes that the quota counts, and the bytes of the files. */
  usage(): Promise<{ readonly counted: number | undefined; readonly stored: number }>
}

/** The file operations of several functions over the same tables and the same bucket. */
export const openScheduledStores = async (turns: Turns, time: Time, options: Options) => {
  const { plant, hasQuota } = options
  const { dynamodb, once, s3Clients, all } = openStores(turns, time, options)
  const given = { dynamodb, now: () => time.now }
  const clock = { wall: given.now, monotonic: given.now }
  const refuse = () => Promise.reject(new Error('No interleaving needs this'))

  const areas = openAreas(all, given)
  const unseen = openAreas(all, { ...given, record: unrecorded })
  const openFiles = () => openFileStores(all, { ...given, once, s3: s3Clients })
  const messages: RemovalMessage[] = []
  const removalQueue = {
    async send(task: RemovalTask): Promise<string> {
      const name = randomUUID()
      messages.push({ task, name })
      return name
    },
  }

  const openPlantedFiles = () => {
    const { downloads: _, linkTo: __, files, uploadParts, ...others } = openFiles()
    // If the caller has checked every condition before, the store checks them only after its writes.
    const place: typeof files.place = (changes, conditions, entry) => {
      const { unlocked } = conditions
      const isSecond = plant === 'no second check' && unlocked.seen !== undefined
      const none = { absent: [], absentIfNew: [], present: [], unlocked: { ...unlocked, folders: [] } }
      return files.place(changes, isSecond ? { ...conditions, ...none } : conditions, entry)
    }
    const takeOver: typeof uploadParts.takeOver =
      plant === 'no take-over of uploads' ? async ({ holding }) => holding : uploadParts.takeOver
    return { ...others, files: { ...files, place }, uploadParts: { ...uploadParts, takeOver } }
  }

  const openPlantedUploads = () => {
    const { uploadRecords, progress } = openUploads(all, given)
    const ends = new Map<string, number>()
    const take: typeof uploadRecords.take = (id, offset, holder, duration, owner) => {
      ends.set(holder, time.now + duration)
      return uploadRecords.take(id, offset, holder, duration, owner)
    }
    const leftOf = (holder: string, duration: number) =>
      plant === 'no renewal of leases' ? (ends.get(holder) ?? 0) - time.now : duration
    const renew: typeof uploadRecords.renew = (id, holder, duration, progress) =>
      uploadRecords.renew(id, holder, leftOf(holder, duration), progress)
    const claim: typeof uploadRecords.claim = (id, holder, duration) => {
      const claimed = uploadRecords.claim(id, holder, duration)
      return claimed && { ...claimed, renew: () => renew(id, holder, duration()) }
    }
    return { progress, uploadRecords: { ...uploadRecords, take, renew, claim } }
  }

  const openFunctions = (): Readonly<Record<Group, Handler>> => {
    const tables = { ...openDirectory(all, given), ...openPlantedUploads(), ...areas }
    const stores = { ...tables, ...openPlantedFiles(), removalQueue }
    const surroundings = { telemetry: { request: () => {} }, clock }
    return {
      storage: openHandler.storage(all, stores, { ...surroundings, linkTo: refuse }),
      access: openHandler.access(all, openAccessStores(all, given), surroundings),
      fields: openHandler.fields(all, stores, surroundings),
      tables: openHandler.categories(all, stores, surroundings),
    }
  }
  const functions = [openFunctions(), openFunctions()]
  const { sites, grants, people } = openDirectory(all, given)
  await sites.putDataCentre({ id: 'us', url: 'https://us.example.com', isDefault: true })
  let count = 1000

  const openSite = async (): Promise<ScheduledSite> => {
    count += 1
    const site = count as SiteId
    const quota = hasQuota && { quota: 1_000_000 }
    await sites.createSite({ id: site, name: 'Own', dataCentre: 'us', renderingEngine: true, ...quota }, entry)
    if (quota) await areas.usage.prepare(site, true)
    const permissions = areaNames.map((area) => `${area}:write`)
    const expires = Math.floor(time.now / 1000) + 1_000_000
    const { token } = await issueGrant(grants, { user: 'ann', sites: [site], permissions, expires })
    await unseen.webForms.create({ site, id: webForm as WebFormId, name: 'Contact us', fields: [] }, entry)
    await unseen.contents.putMany(site, 'category', [{ id: category, name: 'News' }], entry)
    const news = objects.map((id) => withDefaults('news', { id }, 0))
    await unseen.contents.putMany(site, 'news', news, entry)
    for (const [name, role] of Object.entries(firstPeople)) {
      const person = { name: `${name}.${site}`, sites: { [site]: { role } }, password: 'hash' }
      await people.create(testPerson(person), [])
    }
    let requests = 0
    return {
      id: site,
      secrets: { session: [], key: [], invitation: [] },
      request(method, path, { headers, ...rest } = {}) {
        requests += 1
        const group = groupOf(path)
        const handlers = functions[requests % functions.length] as (typeof functions)[number]
        const place = path.startsWith('/') ? path : `/sites/${site}/${path.replace(/^users\/\w+/, `$&.${site}`)}`
        const target = prefixes[group] + place
        return send(handlers[group], method, target, { ...rest, headers: { Authorization: token, ...headers } })
      },
      async administer(type, subject, change) {
        try {
          const isDone = await change({ ...areas, site, entry: { ...entry, site, type, subject } })
          return answerOf(isDone === false ? 404 : 200, {}, '')
        } catch (error) {
          if (error instanceof ServiceError) return answerOf(error.status, {}, '')
          throw error
        }
      },
      isRemoving: () => messages.length > 0,
      async finishRemovals() {
        for (let message = messages.shift(); message; message = messages.shift()) {
          // The lease of the request ends first.
          time.now += longestRemoval
          const rest = await continueRemoval({ ...openFiles(), clock }, message, unlimited, longestRemoval)
          if (rest) messages.unshift(message)
        }
      },
      async usage() {
        let stored = 0
        for await (const objects of listAll(openFiles().files, folderKey('live', site, root)))
          for (const { size } of objects) stored += size
        return { counted: await areas.usage.bytesOf(site), stored }
      },
    }
  }
  return openSite
}
