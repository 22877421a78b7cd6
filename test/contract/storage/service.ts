import { Readable } from 'node:stream'
import { onTestFinished } from 'vitest'
import { hashToken, issueGrant } from '../../../lib/access/grants.ts'
import { newKey } from '../../../lib/access/keys.ts'
import type { Person } from '../../../lib/access/people.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { Downloads, Surroundings } from '../../../lib/service/deps.ts'
import { listAll } from '../../../lib/storage/many-objects.ts'
import type { ListedObject } from '../../../lib/storage/object-store.ts'
import type { LeaseTerms } from '../../../lib/storage/uploads/uploads.ts'
import type { Answer } from '../../support/answer.ts'
import { type Between, openTestFiles } from '../../support/files.ts'
import { send } from '../../support/gateway.ts'
import { entry } from '../../support/history.ts'
import { type FilePart, formHeaders, multipart } from '../../support/multipart.ts'
import { recorded } from '../../support/objects.ts'
import { testPerson } from '../../support/people.ts'
import { tusOver } from '../uploads/service.ts'

type Fields = Readonly<Record<string, string>>

interface Request {
  readonly query?: Fields
  readonly headers?: Fields
  readonly body?: string | Buffer | Readable
  /** How many milliseconds are left before the platform ends the request: a fixed number, or a function of the test. */
  readonly remaining?: number | (() => number)
}

export type Call = (method: string, path: string, request?: Request) => Promise<Answer>

const json = { 'Content-Type': 'application/json' }

/** The requests that most tests make. Paths are encoded and start at the root of the storage. */
const requestsOver = (call: Call) => {
  const callWithJson = (method: string, path: string, body: unknown, { headers, ...more }: Request) =>
    call(method, path, { ...more, headers: { ...json, ...headers }, body: JSON.stringify(body) })
  const get = (path: string, query: Fields = {}, headers: Fields = {}) => call('GET', path, { query, headers })
  const put = (path: string, body: string | Buffer = path, query: Fields = {}, headers: Fields = {}) =>
    call('PUT', path, { body, query, headers })
  /** A PUT with `?meta` and any body. */
  const relocate = (path: string, body: unknown, request: Request = {}) =>
    callWithJson('PUT', path, body, { query: { meta: '' }, ...request })
  return {
    call,
    get,
    put,
    relocate,
    makeFolder: (path: string) => put(path, '', { type: 'folder' }),
    /** Uploads a form. */
    post: (folder: string, files: readonly FilePart[], { headers, ...more }: Request = {}) =>
      call('POST', folder, { body: multipart(files), ...more, headers: { ...formHeaders, ...headers } }),
    rename: (path: string, name: string, request?: Request) => relocate(path, { name }, request),
    remove: (path: string, request?: Request) => call('DELETE', path, request),
    restore: (path: string, body: unknown = {}, request: Request = {}) =>
      callWithJson('POST', path, body, { query: { restore: '' }, ...request }),
    /** The content of a file, or a status other than 200. */
    async read(path: string, query?: Fields): Promise<string | number> {
      const { status, text } = await get(path, query)
      return status === 200 ? text : status
    },
    tagOf: async (path: string, query: Fields = {}): Promise<string> =>
      (await call('HEAD', path, { query })).headers['etag'] ?? '',
  }
}

/** The requests of one token. `callSite` sends a request to a path after the address of the site. */
export type Requests = ReturnType<typeof requestsOver> & ReturnType<typeof tusOver> & { readonly callSite: Call }

export type StorageOptions = Partial<Surroundings> & {
  readonly between?: Between
  readonly downloads?: Downloads
  readonly lease?: LeaseTerms
  /** Bodies arrive with their headers, as through API Gateway. By default they are streams. */
  readonly wholeBodies?: boolean
  /** When the stores are closed. Default: at the end of the test. */
  readonly closes?: (close: () => Promise<void>) => void
}

/** The operations on files, with a site and a token. */
export const openStorage = async ({ wholeBodies, closes = onTestFinished, ...options }: StorageOptions = {}) => {
  const { close, ...files } = await openTestFiles(options)
  closes(close)
  const site = 1001 as SiteId
  const { sites, grants, people } = files.stores
  await sites.createSite({ id: site, name: 'Test', dataCentre: 'us', renderingEngine: true }, entry)
  await sites.putDataCentre({ id: 'us', url: 'http://localhost', isDefault: true })

  const expires = Date.now()
  const requestsWith = (token: string): Requests => {
    const callSite: Call = (method, path, { body = '', headers, ...more } = {}) =>
      send(files.handler, method, `/api/v2/admin/sites/current${path}`, {
        ...more,
        headers: { Authorization: token, ...headers },
        body: wholeBodies || body instanceof Readable ? body : Readable.from([Buffer.from(body)]),
      })
    const call: Call = (method, path, request) => callSite(method, `/storage${path}`, request)
    return { ...requestsOver(call), ...tusOver(callSite), callSite }
  }

  /** The requests of another token of the same user. */
  const as = async (...permissions: readonly string[]): Promise<Requests> => {
    const { token } = await issueGrant(grants, { user: 'test', sites: [site], permissions, expires })
    return requestsWith(token)
  }

  /** The requests of a key with the rights `permissions`. The person of the key has the rights `rights`. */
  const asKey = async (permissions: readonly string[], rights: readonly string[]): Promise<Requests> => {
    const key = newKey()
    const person = testPerson({ name: hashToken(key), sites: { [site]: { rights } } as Person['sites'] })
    await people.create(person, [])
    const owned = { kind: 'key', user: person.name, since: person.created, name: 'Test' } as const
    await grants.put({ ...owned, hash: hashToken(key), sites: [site], permissions, expires }, [])
    return requestsWith(key)
  }

  /** Live and draft. */
  const objects = async (): Promise<ListedObject[]> => {
    const found: ListedObject[] = []
    for (const area of ['draft/', 'live/']) {
      for await (const some of listAll(files.deps.files, area)) found.push(...some)
    }
    return found
  }

  return {
    ...files,
    ...(await as('files')),
    as,
    asKey,
    site,
    objects,
    keys: async () => (await objects()).map(({ key }) => key),
  }
}

/** `fill` creates folders by their keys, without the service: the service would look for each folder first. */
export type StorageUnderTest = Awaited<ReturnType<typeof openStorage>> & {
  fill?(keys: readonly string[]): Promise<void>
}

/** Fills a folder with many empty folders, without checks. Returns all keys in order. */
export const fillFolder = async (
  { deps: { files }, site, fill }: StorageUnderTest,
  folder: string,
  count: number,
  names: readonly string[] = Array.from({ length: count }, (_, index) => String(index)),
): Promise<readonly string[]> => {
  const prefix = `live/${site}${folder}/`
  const keys = [prefix, ...names.map((name) => `${prefix}${name}/`)]
  const changes = keys.map((key) => ({ kind: 'folder', key }) as const)
  if (fill) await fill(keys)
  else await recorded(files.place(changes, { absent: [], unlocked: { site, folders: [] } }, entry))
  return keys.sort()
}
