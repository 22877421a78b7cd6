import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
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

interface Call {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
}

/** Sends one request to the data centre with only these headers and the token. Does not follow redirects. */
export const call = async (path: string, { method = 'GET', headers = {}, body }: Call = {}) => {
  const length = body && { 'Content-Length': String(body.length) }
  const sent = request(`${deployment.baseUrl}${storage}${path}`, {
    method,
    headers: { Authorization: deployment.token, ...length, ...headers },
  })
  const [answer] = (await once(sent.end(body), 'response')) as [IncomingMessage]
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(await answer.toArray()) }
}
