import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv4, isIPv6 } from 'node:net'
import type { Readable } from 'node:stream'
import { plainAddress, type Request } from '../lib/http/request.ts'

const familyOf = (address: string): 'ipv4' | 'ipv6' | undefined => {
  if (isIPv4(address)) return 'ipv4'
  return isIPv6(address) ? 'ipv6' : undefined
}

export const readBlocks = (cidrs: readonly string[]): BlockList | undefined => {
  const blocks = new BlockList()
  for (const cidr of cidrs) {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(cidr.trim()) ?? []
    const family = familyOf(address)
    const most = family === 'ipv4' ? 32 : 128
    const prefix = Number(bits ?? most)
    if (!family || prefix > most) return undefined
    blocks.addSubnet(address, prefix, family)
  }
  return blocks
}

// Some proxies add the port: `192.0.2.1:5000` or `[2001:db8::1]:5000`.
const withPort = /^(?:([\d.]+):\d+|\[([^\]]+)\](?::\d+)?)$/

const addressIn = (hop: string): string => {
  const [, ipv4, ipv6] = withPort.exec(hop) ?? []
  return plainAddress(ipv4 ?? ipv6 ?? hop)
}

/** The result is undefined when the address of the caller is unknown. */
export const createAddressOf = (trusted: BlockList | undefined, isBehindProxy: boolean) => {
  const isTrusted = (hop: string): boolean => {
    const family = familyOf(hop)
    return family !== undefined && trusted?.check(hop, family) === true
  }

  return ({ socket, headers }: IncomingMessage): string | undefined => {
    const peer = plainAddress(socket.remoteAddress ?? '')
    if (!trusted) return isBehindProxy ? undefined : peer
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
    const hops = [...forwarded.map((hop) => addressIn(hop.trim())).filter((hop) => hop !== ''), peer]
    const caller = hops.findLast((hop) => !isTrusted(hop)) ?? hops[0]
    return caller !== undefined && familyOf(caller) ? caller : undefined
  }
}

const readQuery = (text: string): Request['query'] => {
  const byName = Map.groupBy(new URLSearchParams(text), ([name]) => name)
  return new Map([...byName].map(([name, pairs]) => [name, pairs.map(([, value]) => value)]))
}

const origin = /^https?:\/\/[^/?]*/i

const readTarget = (url: string): { readonly path: string; readonly rawQuery: string } => {
  const target = (url.startsWith('/') ? url : url.replace(origin, '')).replaceAll('#', '%23')
  const mark = target.indexOf('?')
  return mark < 0 ? { path: target, rawQuery: '' } : { path: target.slice(0, mark), rawQuery: target.slice(mark + 1) }
}

// Keeps repeated headers, which `headers` would drop: a request with two tokens must be refused.
const readHeaders = ({ headersDistinct }: IncomingMessage): Record<string, string> => {
  const headers: Record<string, string> = Object.create(null)
  for (const [name, values = []] of Object.entries(headersDistinct)) headers[name] = values.join(', ')
  return headers
}

export const readRequest = (message: IncomingMessage, body: Readable, address?: string): Request => {
  const { path, rawQuery } = readTarget(message.url ?? '/')
  return {
    id: randomUUID(),
    method: message.method ?? 'GET',
    path,
    query: readQuery(rawQuery),
    rawQuery,
    headers: readHeaders(message),
    body: { stream: body },
    ...(address !== undefined && { address }),
  }
}

// Exactly one Host header (RFC 9112, section 3.2); HTTP/1.0 may have none.
export const namesHost = ({ httpVersion, headersDistinct: { host = [] } }: IncomingMessage): boolean =>
  host.length === 1 || (host.length === 0 && httpVersion === '1.0')
