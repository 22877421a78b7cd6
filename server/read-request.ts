import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Request } from '../lib/http/request.ts'

type Query = Request['query']

const noQuery: Query = new Map()

/** In one pass: a query may have thousands of names, and one of them thousands of values. */
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

/** A `#` in a target is a character like any other; in a URL that is made of it, all that follows would be no part of it. */
const encodeHash = (target: string): string => (target.includes('#') ? target.replaceAll('#', '%23') : target)

/** Proxies are sent whole URLs. */
const origin = /^https?:\/\/[^/?]*/

/** The path and the query of a request's target, as they came. */
const readTarget = (url: string): { readonly path: string; readonly rawQuery: string } => {
  const target = encodeHash(url.startsWith('/') ? url : url.replace(origin, ''))
  const mark = target.indexOf('?')
  return mark < 0 ? { path: target, rawQuery: '' } : { path: target.slice(0, mark), rawQuery: target.slice(mark + 1) }
}

/** All of them, those too that Node would drop when they come twice: of two tokens, neither may count. */
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

/** The request to the core; `body` is what is read as its body. */
export const readRequest = (message: IncomingMessage, body: Readable): Request => {
  const { path, rawQuery } = readTarget(message.url ?? '/')
  return {
    id: randomUUID(),
    method: message.method ?? 'GET',
    path,
    query: readQuery(rawQuery),
    rawQuery,
    headers: readHeaders(message),
    body: { stream: body },
  }
}

/** Whether the request names its host as HTTP asks for (RFC 9112, section 3.2): once, or in HTTP/1.0 not at all. */
export const namesHost = ({ httpVersion, rawHeaders }: IncomingMessage): boolean => {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') hosts += 1
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0')
}
