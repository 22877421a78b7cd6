import { createServer, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { listenInTest } from '../../support/listen.ts'
import { call } from './http.ts'
import { openSite } from './people.ts'

/** Creates a site with a manager, and returns the calls on its webhooks. */
export const openWebhooks = async (rights?: readonly string[]) => {
  const { site, manager, ...rest } = await openSite(rights, 'Webhooks')
  const webhooks = `/webresources/api/v3/sites/${site}/webhooks`
  const ask = (method: string, path = '', body?: unknown, token = manager) =>
    call(`${webhooks}${path}`, { method, token, ...(body !== undefined && { body }) })
  const create = async (more: object = {}, targetUrl = 'https://example.com/hooks') =>
    (await ask('POST', '', { targetUrl, enabled: false, ...more })).json
  const put = (path: string) =>
    call(`/api/v2/admin/sites/${site}/storage/${path}`, { method: 'PUT', token: manager, body: 'text' })
  const changes = async () => (await call(`/api/v2/admin/sites/${site}/changes?after=`, { token: manager })).json.items
  return { site, manager, ...rest, ask, create, put, changes }
}

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: a case asserts on whatever arrives
  readonly event: any
}

/**
 * A target on this machine that answers each delivery with the next of these statuses, and then with 200. It answers
 * only after `mayAnswer` has resolved.
 */
export const openReceiver = async (statuses: readonly number[] = [], mayAnswer?: Promise<void>) => {
  const received: Received[] = []
  const answers = [...statuses]
  const url = await listenInTest(
    createServer(async (request, response) => {
      const body = (await buffer(request)).toString()
      received.push({ headers: request.headers, body, event: JSON.parse(body) })
      await mayAnswer
      response.writeHead(answers.shift() ?? 200, { Location: '/elsewhere' }).end('secret answer')
    }),
  )
  return { url: `${url}/hooks`, received }
}

const isSigned = ({ headers, body }: Received, secret: string): boolean => {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

/** For each secret, whether the delivery was signed with it. */
export const signaturesOf = (delivery: Received | undefined, ...secrets: readonly string[]): readonly boolean[] =>
  secrets.map((secret) => delivery !== undefined && isSigned(delivery, secret))
