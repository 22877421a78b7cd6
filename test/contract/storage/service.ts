import { Readable } from 'node:stream'
import { hashToken, newToken } from '../../../lib/access/grants.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { Downloads, StorageDeps, Surroundings } from '../../../lib/service/deps.ts'
import { listAll } from '../../../lib/storage/object-store.ts'
import { type Between, openTestFiles, type TestFiles } from '../../support/files.ts'
import { requestOf, textOf } from '../../support/gateway.ts'
import { entry } from '../../support/history.ts'

interface Request {
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer | Readable
  /** Milliseconds that the platform leaves to the request, now or at any moment. */
  readonly remaining?: number | (() => number)
}

/** An answer, its body as text. */
export interface Outcome {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The storage's function with a site and a token, whose store can be made to fail. */
export interface StorageUnderTest extends Pick<TestFiles, 'sent' | 'linkSecret' | 'leftovers' | 'close'> {
  readonly site: SiteId
  readonly deps: StorageDeps
  call(method: string, path: string, request?: Request): Promise<Outcome>
  /** Makes folders by their keys past the store, where that has to ask for each of them. */
  fill?(keys: readonly string[]): Promise<void>
}

export const openStorage = async (
  options: { readonly between?: Between; readonly downloads?: Downloads } & Pick<Surroundings, 'clock'> = {},
): Promise<StorageUnderTest> => {
  const files = await openTestFiles(options)
  const site = 1001 as SiteId
  const token = newToken()
  const { sites, grants } = files.stores
  await sites.createSite({ id: site, name: 'Test', dataCentre: 'us', renderingEngine: true }, entry)
  await sites.putDataCentre({ id: 'us', url: 'http://localhost', isDefault: true })
  const expires = Date.now()
  await grants.put({ hash: hashToken(token), user: 'test', sites: [site], permissions: ['files'], expires }, [])

  return {
    ...files,
    site,
    async call(method, path, { query = {}, headers = {}, body = '', remaining = Number.POSITIVE_INFINITY } = {}) {
      const target = `/api/v2/admin/sites/current/storage${path}`
      const request = requestOf(method, target, { query, headers: { Authorization: token, ...headers } })
      const stream = body instanceof Readable ? body : Readable.from([Buffer.from(body)])
      const answer = await files.handler(
        { ...request, body: { stream } },
        typeof remaining === 'number' ? () => remaining : remaining,
      )
      return { statusCode: answer.status, headers: answer.headers, body: await textOf(answer) }
    },
  }
}

/**
 * Puts so many folders into a folder, past everything that would check them: its objects are many at once. Answers
 * their keys in order.
 */
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
  else await files.place(changes, { absent: [], unlocked: { site, folders: [] } }, entry)
  return keys.sort()
}

/** The keys of everything that there is, live and draft. */
export const keysOf = async ({ deps: { files } }: StorageUnderTest): Promise<string[]> => {
  const keys: string[] = []
  for (const area of ['draft/', 'live/']) {
    for await (const objects of listAll(files, area)) keys.push(...objects.map(({ key }) => key))
  }
  return keys
}

export const renameTo = (storage: StorageUnderTest, path: string, name: string, request: Request = {}) =>
  storage.call('PUT', path, {
    ...request,
    query: { meta: '' },
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name }),
  })

/** A PUT with `?meta` and whatever body. `remaining`: milliseconds that the platform leaves to the request. */
export const relocateTo = (
  storage: StorageUnderTest,
  path: string,
  body: unknown,
  remaining?: number,
  headers: Request['headers'] = {},
) =>
  storage.call('PUT', path, {
    query: { meta: '' },
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(remaining !== undefined && { remaining }),
  })

export const boundary = 'boundary-of-the-tests'

export interface Part {
  readonly name: string
  readonly content: string | Buffer
}

export const multipart = (parts: readonly Part[]): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ name, content }) => [
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ])

export const formHeaders = { 'Content-Type': `multipart/form-data; boundary=${boundary}` }

export const codeOf = ({ body }: Outcome): number | undefined =>
  body === '' ? undefined : (JSON.parse(body) as { code?: number }).code
