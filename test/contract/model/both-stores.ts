import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCategoriesHandler } from '../../../functions/categories/group.ts'
import { createFieldsHandler } from '../../../functions/fields/group.ts'
import { createStorageHandler } from '../../../functions/storage/group.ts'
import { hashToken, newToken } from '../../../lib/access/grants.ts'
import { openFileStores } from '../../../lib/aws/open-files.ts'
import { openAreas, openDirectory, openUploads } from '../../../lib/aws/open-tables.ts'
import { objectKindNames, withDefaults } from '../../../lib/core/content-kinds.ts'
import type { SiteId, WebFormId } from '../../../lib/core/ids.ts'
import type { Handler } from '../../../lib/http/request.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { createCategoriesDeps, createFieldsDeps, createStorageDeps } from '../../../lib/service/deps.ts'
import type { Stores } from '../../../lib/service/stores.ts'
import { type Answer, answerOf } from '../../support/answer.ts'
import { openTestBucket } from '../../support/bucket.ts'
import { type Request, send } from '../../support/gateway.ts'
import { entry } from '../../support/history.ts'
import { openTestTables, tableSettings } from '../../support/tables.ts'
import { compareAnswers, createKnowledge } from './compare-answers.ts'

/** One clock for both stores. S3 has whole seconds, so each request gets its own second (H-23). */
export const createClock = (start: number) => {
  let now = start
  const tick = () => {
    now += 1_000
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

type FilledStores = Omit<Stores, 'removalQueue'>

const openOneMachine = async (clock: TestClock) => {
  const folder = await mkdtemp(join(tmpdir(), 'site-admin-'))
  const machine = await openMachine(join(folder, 'data'), { role: 'service', durable: false, clock })
  const close = async () => {
    await machine.close()
    await rm(folder, { recursive: true })
  }
  return { stores: machine.stores, close }
}

const openAws = async ({ wall: now }: TestClock) => {
  const [{ bucket, connect }, tables] = await Promise.all([openTestBucket(), openTestTables()])
  const all = { ...tableSettings(tables.names), filesBucket: bucket, keptDays: 30, removalsQueueUrl: '' }
  const given = { dynamodb: tables.connect(), now }
  const { record, ...areas } = openAreas(all, given)
  const s3 = { client: connect(), once: connect(1) }
  const { downloads: _, linkTo: __, ...files } = openFileStores(all, { ...given, record, s3 })
  const stores = { ...openDirectory(all, { ...given, record }), ...areas, ...openUploads(all, given), ...files }
  return { stores: { ...stores, history: areas.history }, close: () => tables.close() }
}

export const categories = [5, 6] as const
export const objects = [1, 2] as const
export const webForm = 1

const fillSite = async ({ sites, grants, webForms, contents }: FilledStores, site: SiteId, token: string) => {
  await sites.createSite({ id: site, name: 'Own', dataCentre: 'us', renderingEngine: true }, entry)
  const expires = Math.floor(Date.now() / 1000) + 3600
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
    v1: createFieldsHandler(createFieldsDeps(settings, stores, surroundings)),
    v2: createStorageHandler(createStorageDeps(settings, whole, { ...surroundings, linkTo: refuse })),
    v3: createCategoriesHandler(createCategoriesDeps(settings, stores, surroundings)),
  }
}

export interface Question extends Request {
  readonly method: string
  readonly api: keyof typeof prefixes
  /** Below the site. */
  readonly path: string
  /** A condition with a tag of each store: the present tag, or an earlier one. */
  readonly tag?: { readonly header: 'If-Match' | 'If-None-Match'; readonly age: 'present' | 'earlier' } | undefined
  /** The position of a version in `?versions`, because each store has its own names. */
  readonly version?: number | undefined
}

type RemovedPage = { readonly deleted?: readonly unknown[]; readonly cursor?: string }

/** All pages of `?deleted` as one: on AWS, the last of them may be empty (H-18). */
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

/** Asks both stores the same. */
export const openBothStores = async (clock: TestClock) => {
  const opened = await Promise.all([openOneMachine(clock), openAws(clock)])
  const stores: readonly FilledStores[] = opened.map((one) => one.stores)
  for (const { sites } of stores) {
    await sites.putDataCentre({ id: 'us', url: 'https://us.example.com', isDefault: true })
  }
  const handlers = stores.map((one) => handlersOf(one, clock))
  let count = 1000

  /** An empty site on both. */
  const openSite = async () => {
    count += 1
    const site = count as SiteId
    const token = newToken()
    for (const one of stores) await fillSite(one, site, token)
    const known = createKnowledge()
    const tags = new Map<string, (readonly string[])[]>()

    const askEach = (question: Question, own: readonly Request[] = []): Promise<readonly Answer[]> => {
      const { method, api, path, headers, query, body = '' } = question
      const target = `${prefixes[api]}/sites/${site}/${path}`
      return Promise.all(
        handlers.map((handler, side) =>
          sendForAll((cursor) =>
            send(handler[api], method, target, {
              headers: { Authorization: token, ...headers, ...own[side]?.headers },
              query: { ...query, ...own[side]?.query, ...cursor },
              body: own[side]?.body ?? body,
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
      // On AWS equal bytes have equal tags, so the condition would hold for the same file again.
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

    return {
      /** Returns the answer of both. Throws an Error if they differ. */
      async ask(question: Question): Promise<Answer> {
        clock.tick()
        const { tag, version, method, body } = question
        if (method === 'PUT' && question.query?.['meta'] !== undefined) known.move(clock.wall())
        const named = tag && (await tagsFor(question, tag.age))
        const versions = version === undefined ? [] : await versionsFor(question, version)
        const own = handlers.map((_, side): Request => {
          const headers = { ...(tag && { [tag.header]: named?.[side] ?? '' }) }
          const chosen = versions[side]
          if (chosen === undefined) return { headers }
          if (method === 'GET') return { headers, query: { versionId: chosen } }
          return { headers, body: { ...(body as object), version: chosen } }
        })
        return compareAnswers(await askEach(question, own), { ...known, path: question.path })
      },
    }
  }

  return {
    openSite,
    close: async () => void (await Promise.all(opened.map((one) => one.close()))),
  }
}

export type BothStores = Awaited<ReturnType<typeof openBothStores>>
export type BothSites = Awaited<ReturnType<BothStores['openSite']>>
