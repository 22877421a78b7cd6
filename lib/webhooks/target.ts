import { createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { callbackify } from 'node:util'
import ipaddr from 'ipaddr.js'
import type { ChangeType, viewOfChange } from '../core/history-entry.ts'
import { systemCodeOf } from '../core/system-failures.ts'

export type ReportedView = Omit<ReturnType<typeof viewOfChange>, 'type'> & {
  readonly type: ChangeType | 'webhook.test'
}

/** V-6. A CloudEvent in structured mode. `source` is the API address of the site. */
const eventOf = (view: ReportedView, source: string) => ({
  specversion: '1.0',
  id: view.id,
  source,
  type: `site-admin.${view.type}`,
  ...(view.subject !== '' && { subject: view.subject }),
  time: view.at,
  datacontenttype: 'application/json',
  data: view,
})

const sign = (secret: string, text: string): string => {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`
}

/** V-7, as described in Standard Webhooks. `time` is in milliseconds since the epoch. */
export const messageOf = (view: ReportedView, source: string, time: number, secrets: readonly string[]) => {
  const body = JSON.stringify(eventOf(view, source))
  const timestamp = String(Math.floor(time / 1000))
  const headers: Readonly<Record<string, string>> = {
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'site-admin',
    'webhook-id': view.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => sign(secret, `${view.id}.${timestamp}.${body}`)).join(' '),
  }
  return { headers, body }
}

export type Message = ReturnType<typeof messageOf> & { readonly url: string }

export type TargetAnswer = { readonly status: number } | { readonly fault: string }

/** The time of one attempt, in milliseconds. */
export const longestAttempt = 15_000

const [mostBytes, mostAddresses] = [1024, 20]

class TargetFault extends Error {}

const closed = 'The target closed the connection without an answer.'

const faults: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The target refused the connection.',
  ECONNRESET: closed,
  EPIPE: closed,
  EHOSTUNREACH: 'The target cannot be reached.',
  ENETUNREACH: 'The target cannot be reached.',
  ETIMEDOUT: 'The target cannot be reached.',
  ENOTFOUND: 'The host name of the target has no address.',
}

const faultOf = (error: unknown): string => {
  if (error instanceof TargetFault) return error.message
  const code = String(systemCodeOf(error))
  if (/^(?!ERR_SSL).*(CERT|SIGNATURE)/.test(code)) return `The certificate of the target is not valid (${code}).`
  return faults[code] ?? `The request to the target failed (${code}).`
}

const refuse = (): never => {
  throw new TargetFault(
    'The target is not at a public address. Change it. On one machine, --allow-private-webhooks permits it.',
  )
}

// IPv6 has no other public addresses.
const assigned = ipaddr.parseCIDR('2000::/3')

// The agent on virtual machines of Azure has this address, which looks public.
const metadata = '168.63.129.16'

const isOwn = (address: string): boolean =>
  Object.values(networkInterfaces()).some((addresses = []) => addresses.some((own) => own.address === address))

/** V-14. NAT64 addresses are judged by the IPv4 address in them. */
export const isPublic = (text: string): boolean => {
  const address = ipaddr.process(text)
  if (address instanceof ipaddr.IPv6) {
    if (address.range() === 'rfc6052') return isPublic(ipaddr.fromByteArray(address.toByteArray().slice(-4)).toString())
    if (!address.match(assigned)) return false
  }
  return address.range() === 'unicast' && address.toString() !== metadata && !isOwn(address.toString())
}

/**
 * Resolves names without the operating system, whose lookups block the threads that also read and write files. Without
 * `servers`, asks the DNS servers of the system. Two tries, each of `timeout` milliseconds or somewhat more, must leave
 * time for a delivery. A resolver keeps its servers, so each lookup has a new one.
 */
export const createResolve =
  (servers?: readonly string[], timeout = 2_000) =>
  async (name: string): Promise<readonly string[]> => {
    const { Resolver } = await import('node:dns/promises')
    const resolver = new Resolver({ timeout, tries: 2 })
    if (servers) resolver.setServers(servers)
    const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    const [first] = found
    if (addresses.length > 0 || first.status === 'fulfilled') return addresses
    throw new TargetFault(`The host name of the target has no address (${first.reason.code}).`)
  }

type Resolve = ReturnType<typeof createResolve>

/** V-14: the connection uses only addresses that this lookup accepts. */
const lookupOf = (resolve: Resolve, isPermitted: typeof isPublic): LookupFunction =>
  callbackify(async (name: string, _: unknown) => {
    const permitted = (await resolve(name)).slice(0, mostAddresses).filter(isPermitted)
    return permitted.length > 0 ? permitted.map((address) => ({ address, family: isIP(address) })) : refuse()
  })

const readSome = async (response: AsyncIterable<Buffer>): Promise<void> => {
  let bytes = 0
  for await (const chunk of response) {
    bytes += chunk.length
    if (bytes > mostBytes) return
  }
}

const usual = { limit: longestAttempt, resolve: createResolve(), isPermitted: isPublic }

type Options = Partial<typeof usual> & { readonly permitsPrivate: boolean }

/** V-8. `send` follows no redirect. `limit` is in milliseconds. `close` ends open requests, which then throw. */
export const createTarget = (options: Options) => {
  const { permitsPrivate, limit, resolve, isPermitted } = { ...usual, ...options }
  const closing = new AbortController()
  const connection = {
    agent: false,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 2_500,
    ...(!permitsPrivate && { lookup: lookupOf(resolve, isPermitted) }),
  } as const

  const exchange = async ({ url: text, headers, body }: Message, signal: AbortSignal): Promise<TargetAnswer> => {
    const url = new URL(text)
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (!permitsPrivate && isIP(host) !== 0 && !isPermitted(host)) refuse()
    // Loading these modules takes 40 ms of a cold start, and most requests to the function send nothing.
    const { request: open } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'))
    const request = open(url, { ...connection, method: 'POST', headers, signal })
    const { promise, resolve: answer, reject } = Promise.withResolvers<IncomingMessage>()
    // If the target switches protocols, Node ends the request without an error.
    const end = () => reject(new TargetFault(closed))
    request.on('response', answer).on('error', reject).on('close', end).end(body)
    const response = await promise
    // The status counts, even if the rest of the answer never arrives.
    await readSome(response).catch(() => {})
    return { status: response.statusCode ?? 0 }
  }

  return {
    permitsPrivate,

    async send(message: Message): Promise<TargetAnswer> {
      const late = AbortSignal.timeout(limit)
      try {
        return await exchange(message, AbortSignal.any([closing.signal, late]))
      } catch (error) {
        if (closing.signal.aborted) throw new Error('The sender of webhooks has stopped.')
        return { fault: late.aborted ? `The target did not answer within ${limit / 1000} seconds.` : faultOf(error) }
      }
    },

    close: () => closing.abort(),
  }
}

export type Target = ReturnType<typeof createTarget>
