import { join } from 'node:path'
import { Readable } from 'node:stream'
import { hashToken, newToken } from '../../../lib/access/grants.ts'
import { countOpenUploads } from '../../../lib/aws/dynamodb/uploads.ts'
import { recountSites } from '../../../lib/aws/dynamodb/usage-counts.ts'
import { openFileStores } from '../../../lib/aws/open-files.ts'
import { openAreas, openDirectory, openUploads } from '../../../lib/aws/open-tables.ts'
import { objectKindNames, withDefaults } from '../../../lib/core/content-kinds.ts'
import type { SiteId, WebFormId } from '../../../lib/core/ids.ts'
import { unlimited } from '../../../lib/core/time.ts'
import type { Handler } from '../../../lib/http/request.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import type { Stores } from '../../../lib/service/stores.ts'
import type { Site } from '../../../lib/sites/site-directory.ts'
import { type Answer, answerOf } from '../../support/answer.ts'
import { createFastClients } from '../../support/bucket.ts'
import { makeDirectory, removeDirectory } from '../../support/directory.ts'
import { type Request, send } from '../../support/gateway.ts'
import { openHandler } from '../../support/handlers.ts'
import { entry } from '../../support/history.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { createMemoryS3 } from '../../support/memory-s3.ts'
import { tableSettings } from '../../support/tables.ts'
import { compareAnswers, createKnowledge } from './compare-answers.ts'

/** One clock for both stores. S3 has whole seconds, so each request gets its own second (H-23). */
export const createClock = (start: number) => {
  let now = start
  const tick = (seconds = 1) => {
    now += seconds * 1_000
  }
  return { wall: () => now, monotonic: () => performance.now(), tick }
}
type TestClock = ReturnType<typeof createClock>

const settings = {
  dataCentre: 'us',
  longestList: 20_000,
  largestFile: 100_000,
  largestResumableFile: 100_000,
  reservedFolders: ['Templates'],
}

type FilledStores = Omit<Stores, 'removalQueue' | 'attempts' | 'issuers' | 'accessValues' | 'webhooks' | 'seals'>

interface Running {
  readonly stores: FilledStores
  stop(): Promise<void>
  /** Begins and ends the daily recount of a site. One machine needs none. */
  recount?(site: Site): Promise<void>
}

/** A store whose data stays when its service stops. */
interface Side {
  /** Starts a service. The previous one must have stopped. */
  start(): Promise<Running>
  remove(): Promise<void>
}

const createOneMachine = async (clock: TestClock): Promise<Side> => {
  const folder = makeDirectory()
  return {
    async start() {
      const machine = await openMachine(join(folder, 'data'), { role: 'service', durable: false, clock })
      return { stores: machine.stores, stop: machine.close }
    },
    remove: async () => removeDirectory(folder),
  }
}

const createAws = ({ wall: now }: TestClock): Side => {
  const tables = openMemoryTables(now)
  const s3 = createFastClients('files', createMemoryS3(), { hasChecksums: false })
  const all = { ...tableSettings(tables.names), filesBucket: 'files', keptDays: 30, removalsQueueUrl: '' }
  return {
    async start() {
      const given = { dynamodb: tables.connect(), once: tables.connect(1), now }
      const { record, ...areas } = openAreas(all, given)
      const { downloads: _, linkTo: __, ...files } = openFileStores(all, { ...given, record, s3 })
      const recorded = { ...given, record }
      const stores = { ...openDirectory(all, recorded), ...areas, ...openUploads(all, recorded), ...files }
      const recount = async (site: Site): Promise<void> => {
        const ofUploads = { ...given, table: all.uploadsTable }
        const sites = { list: async () => ({ dataCentres: [], sites: [site] }) }
        const { counts } = files
        const deps = { sites, dataCentre: 'us', files: files.files, counts, clock: { wall: now } }
        await recountSites({ ...deps, countOpenUploads: () => countOpenUploads(ofUploads) }, unlimited)
      }
      return { stores: { ...stores, history: areas.history }, stop: async () => {}, recount }
    },
    remove: () => tables.close(),
  }
}

export const categories = [5, 6] as const
export const objects = [1, 2] as const
export const webForm = 1

const year = 365 * 24 * 3600

const fillSite = async ({ sites, grants, webForms, contents, usage }: FilledStores, whole: Site, token: string) => {
  const { id: site } = whole
  if (whole.quota !== undefined) await usage.prepare(site, true)
  await sites.createSite(whole, entry)
  const expires = Math.floor(Date.now() / 1000) + year
  await grants.put({ hash: hashToken(token), user: 'ann', sites: [site], permissions: ['files'], expires }, [])
  await webForms.create({ site, id: webForm as WebFormId, name: 'Contact us', fields: [] }, entry)
  const named = categories.map((id) => ({ id, name: `Category ${id}` }))
  await contents.putMany(site, 'category', named, entry)
  for (const kind of objectKindNames) {
    const items = objects.map((id) => withDefaults(kind, { id }, 0))
    await contents.putMany(site, kind, items, entry)
  }
}

const prefixes = { v1: '/api/v1/admin', v2: '/api/v2/admin', v3: '/webresources/api/v3' } as const

const handlersOf = (stores: FilledStores, clock: TestClock): Readonly<Record<keyof typeof prefixes, Handler>> => {
  const surroundings = { telemetry: { request: () => {} }, clock }
  const refuse = () => Promise.reject(new Error('No sequence needs this'))
  const whole = { ...stores, removalQueue: { send: refuse } }
  return {
    v1: openHandler.fields(settings, stores, surroundings),
    v2: openHandler.storage(settings, whole, { ...surroundings, linkTo: refuse }),
    v3: openHandler.categories(settings, stores, surroundings),
  }
}

export interface Question extends Request {
  readonly method: string
  readonly api: keyof typeof prefixes
  /** The path below the site. */
  readonly path: string
  /** A condition with a tag of each store: the current tag, or an earlier tag. */
  readonly tag?: { readonly header: 'If-Match' | 'If-None-Match'; readonly age: 'present' | 'earlier' } | undefined
  /** A version is given by its position in `?versions`, because each store has its own names for versions. */
  readonly version?: number | undefined
  /** The client disconnects after this many bytes of the body. */
  readonly cut?: number | undefined
}

/** The part of a request that differs between the stores. */
type Own = Request & { readonly path?: string | undefined }

async function* interrupted(body: string): AsyncGenerator<Buffer> {
  yield Buffer.from(body)
  throw new Error('The client has left')
}

type RemovedPage = { readonly deleted?: readonly unknown[]; readonly cursor?: string }

/** All pages of `?deleted` as one: on AWS, the last page may be empty (H-18). */
const sendForAll = async (sendOne: (query: { readonly cursor?: string }) => Promise<Answer>): Promise<Answer> => {
  const first = await sendOne({})
  const deleted: unknown[] = []
  for (let answer = first; ; ) {
    const page: RemovedPage = answer.text.startsWith('{"deleted":') ? answer.json : {}
    deleted.push(...(page.deleted ?? []))
    if (page.cursor === undefined)
      return page.deleted ? answerOf(first.status, first.headers, JSON.stringify({ deleted })) : answer
    answer = await sendOne({ cursor: page.cursor })
  }
}

export const openBothStores = async (clock: TestClock) => {
  const sides = await Promise.all([createOneMachine(clock), createAws(clock)])
  const startAll = () => Promise.all(sides.map((side) => side.start()))
  let running = await startAll()
  let handlers = running.map(({ stores }) => handlersOf(stores, clock))
  const stopAll = () => Promise.all(running.map((one) => one.stop()))
  const restart = async (): Promise<void> => {
    await stopAll()
    running = await startAll()
    handlers = running.map(({ stores }) => handlersOf(stores, clock))
  }
  for (const { stores } of running) {
    await stores.sites.putDataCentre({ id: 'us', url: 'https://us.example.com', isDefault: true })
  }
  let count = 1000

  /** An empty site on both stores. `quota` is in bytes. */
  const openSite = async (quota?: number) => {
    count += 1
    const site = count as SiteId
    const token = newToken()
    const whole: Site = {
      ...{ id: site, name: 'Own', dataCentre: 'us', renderingEngine: true },
      ...(quota !== undefined && { quota }),
    }
    for (const { stores } of running) await fillSite(stores, whole, token)
    const known = createKnowledge()
    const tags = new Map<string, (readonly string[])[]>()

    const askEach = (question: Question, own: readonly Own[] = []): Promise<readonly Answer[]> => {
      const { method, api, path, headers, query, body = '', cut } = question
      return Promise.all(
        handlers.map((handler, side) =>
          sendForAll((cursor) =>
            send(handler[api], method, `${prefixes[api]}/sites/${site}/${own[side]?.path ?? path}`, {
              headers: { Authorization: token, ...headers, ...own[side]?.headers },
              query: { ...query, ...own[side]?.query, ...cursor },
              body:
                cut === undefined ? (own[side]?.body ?? body) : Readable.from(interrupted(String(body).slice(0, cut))),
            }),
          ),
        ),
      )
    }

    const tagsFor = async ({ api, path, query }: Question, age: 'present' | 'earlier'): Promise<readonly string[]> => {
      const draft = query?.['version'] === 'draft' && { query: { version: 'draft' } }
      const answers = await askEach({ method: 'GET', api, path, ...draft })
      const present = answers.map(({ headers }) => headers['etag'] ?? '"none"')
      const seen = tags.get(path) ?? []
      tags.set(path, [present, ...seen])
      // On AWS equal bytes have equal tags. So the condition would be true again for a file with the same bytes.
      const earlier = seen.find((each) => each.every((tag, side) => tag !== present[side]))
      return age === 'present' ? present : (earlier ?? ['"none"', '"none"'])
    }

    const versionsFor = async ({ api, path }: Question, place: number): Promise<readonly string[]> => {
      const answers = await askEach({ method: 'GET', api, path, query: { versions: '' } })
      return answers.map((answer) => {
        const { versions = [] } = answer.json as { readonly versions?: readonly { readonly version: string }[] }
        return versions[place]?.version ?? 'none'
      })
    }

    /** The bytes that each store counts for the quota. */
    const usedBytes = () => Promise.all(running.map(({ stores }) => stores.usage.bytesOf(site)))

    return {
      quota,
      usedBytes,
      /** Lets a day pass, after which the used bytes are counted again. */
      async recount(): Promise<void> {
        for (const seconds of [24 * 3600, 3600]) {
          clock.tick(seconds)
          for (const { recount } of running) await recount?.(whole)
        }
      },
      /** Sends all requests at once. Returns the answers of each store, which may differ. */
      async askAll(questions: readonly Question[]): Promise<readonly (readonly Answer[])[]> {
        clock.tick()
        const answers = await Promise.all(questions.map((question) => askEach(question)))
        return handlers.map((_, side) => answers.flatMap((each) => each[side] ?? []))
      },
      /** Lets so much time pass that a change can no longer be undone (H-35). */
      settle: () => clock.tick(120),
      /** Stops both services, and starts them again on their data. */
      restart,
      /** A resumable upload whose client disconnects after this many bytes. True if the file is stored in the end. */
      async upload(question: Question, cut: number, between: () => Promise<void>): Promise<boolean> {
        const body = String(question.body)
        const headers = { 'Tus-Resumable': '1.0.0', ...question.headers }
        clock.tick()
        const created = await askEach({ ...question, headers, body: '' })
        const paths = created.map((one) => ({ path: one.headers['location']?.replace(/.*\/(?=uploads\/)/, '') }))
        const step = async (method: string, more: Question['headers'] = {}, content = '', end?: number) => {
          clock.tick()
          const sent = { headers: { ...headers, ...more }, body: content, cut: end }
          const asked: Question = { method, api: 'v2', path: 'uploads', ...sent }
          return compareAnswers(await askEach(asked, paths), { ...known, path: question.path })
        }
        const append = (offset: string, end?: number) => {
          const described = { 'Upload-Offset': offset, 'Content-Type': 'application/offset+octet-stream' }
          return step('PATCH', described, body.slice(Number(offset)), end)
        }
        if (compareAnswers(created, { ...known, path: question.path }).status !== 201) return false
        await append('0', cut)
        await between()
        const { status, headers: state } = await step('HEAD')
        const offset = state['upload-offset'] ?? ''
        if (status !== 200 || offset === String(body.length)) return status === 200
        return (await append(offset)).status === 204
      },
      /** Returns the answer of both stores. Throws an Error if they differ. */
      async ask(question: Question): Promise<Answer> {
        clock.tick()
        const { tag, version, method, body } = question
        if (method === 'PUT' && question.query?.['meta'] !== undefined) known.move(clock.wall())
        const named = tag && (await tagsFor(question, tag.age))
        const versions = version === undefined ? [] : await versionsFor(question, version)
        const own = handlers.map((_, side): Own => {
          const headers = { ...(tag && { [tag.header]: named?.[side] ?? '' }) }
          const chosen = versions[side]
          if (chosen === undefined) return { headers }
          if (method !== 'POST') return { headers, query: { versionId: chosen } }
          return { headers, body: { ...(body as object), version: chosen } }
        })
        return compareAnswers(await askEach(question, own), { ...known, path: question.path })
      },
    }
  }

  return {
    openSite,
    async close() {
      await stopAll()
      await Promise.all(sides.map((side) => side.remove()))
    },
  }
}

export type BothStores = Awaited<ReturnType<typeof openBothStores>>
export type BothSites = Awaited<ReturnType<BothStores['openSite']>>
