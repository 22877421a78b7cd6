import { request } from 'node:http'
import type { SiteId } from '../../../lib/core/ids.ts'

const setting = (name: string): string => {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set: run this suite with npm run test:deployed`)
  return value
}

export const deployment = {
  baseUrl: setting('DEPLOYED_BASE_URL'),
  site: Number(setting('DEPLOYED_SITE')) as SiteId,
  token: setting('DEPLOYED_TOKEN'),
  bucket: setting('FILES_BUCKET'),
  sitesTable: setting('SITES_TABLE'),
  pathLocksTable: setting('PATH_LOCKS_TABLE'),
  removals: setting('REMOVALS_QUEUE_URL'),
  failedRemovals: setting('DEPLOYED_FAILED_REMOVALS_QUEUE'),
} as const

export const storage = `/api/v2/admin/sites/${deployment.site}/storage`

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

interface Call {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
}

/** Sends one request to the data centre with only these headers and the token. Does not follow redirects. */
export const call = (path: string, { method = 'GET', headers = {}, body }: Call = {}): Promise<Answer> => {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const length = body && { 'Content-Length': String(body.length) }
  request(
    `${deployment.baseUrl}${storage}${path}`,
    { method, headers: { Authorization: deployment.token, ...length, ...headers } },
    async (response) => {
      const chunks = await response.toArray().catch(reject)
      const { statusCode = 0, headers: received } = response
      if (chunks) resolve({ status: statusCode, headers: received, body: Buffer.concat(chunks) })
    },
  )
    .on('error', reject)
    .end(body)
  return promise
}
