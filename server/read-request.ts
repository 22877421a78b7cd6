import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Request } from '../lib/http/request.ts'

type Query = Request['query']

const noQuery: Query = new Map()

const readQuery = (text: string): Query => {
  if (text === '') return noQuery
  const byName = Map.groupBy(new URLSearchParams(text), ([name]) => name)
  return new Map([...byName].map(([name, pairs]) => [name, pairs.map(([, value]) => value)]))
}

const encodeHash = (target: string): string => (target.includes('#') ? target.replaceAll('#', '%23') : target)

const origin = /^https?:\/\/[^/?]*/i

const readTarget = (url: string): { readonly path: string; readonly rawQuery: string } => {
  const target = encodeHash(url.startsWith('/') ? url : url.replace(origin, ''))
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
