import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Request } from '../lib/http/request.ts'

type Query = Request['query']

const noQuery: Query = new Map()

const readQuery = (text: string): Query => {
  if (text === '') return noQuery
  const query = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(text)) {
    const values = query.get(name)
    if (values) values.push(value)
    else query.set(name, [value])
  }
  return query
}

const encodeHash = (target: string): string => (target.includes('#') ? target.replaceAll('#', '%23') : target)

const origin = /^https?:\/\/[^/?]*/

const readTarget = (url: string): { readonly path: string; readonly rawQuery: string } => {
  const target = encodeHash(url.startsWith('/') ? url : url.replace(origin, ''))
  const mark = target.indexOf('?')
  return mark < 0 ? { path: target, rawQuery: '' } : { path: target.slice(0, mark), rawQuery: target.slice(mark + 1) }
}

// Keeps repeated headers, which Node would drop: a request with two tokens must be refused.
const readHeaders = ({ rawHeaders }: IncomingMessage): Record<string, string> => {
  const headers: Record<string, string> = Object.create(null)
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase()
    const value = rawHeaders[at + 1] ?? ''
    const before = headers[name]
    headers[name] = before === undefined ? value : `${before}, ${value}`
  }
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
export const namesHost = ({ httpVersion, rawHeaders }: IncomingMessage): boolean => {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') hosts += 1
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0')
}
