import Negotiator from 'negotiator'
import type { Format, Formats, Request } from './request.ts'

const mediaTypes: Readonly<Record<Format, readonly [string, ...string[]]>> = {
  json: ['application/json'],
  xml: ['application/xml', 'text/xml'],
}

export const contentTypes: Readonly<Record<Format, string>> = {
  json: 'application/json; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
}

export const formatOf = (mediaType: string): Format | undefined =>
  (Object.keys(mediaTypes) as Format[]).find((format) => mediaTypes[format].includes(mediaType))

// Some clients ask for a charset. It is ignored, because every answer is UTF-8.
const charset = /;\s*charset=(?:"[^"]*"|[^;,]*)/gi

/** F-26: undefined when `Accept` allows none of the formats. */
export const preferredFormat = ({ headers }: Pick<Request, 'headers'>, offered: Formats): Format | undefined => {
  const accept = (headers['accept'] ?? '').replace(charset, '').trim()
  if (offered.length === 1 || accept === '' || accept === '*/*') return offered[0]
  const chosen = new Negotiator({ headers: { accept } }).mediaType(offered.flatMap((format) => mediaTypes[format]))
  return chosen === undefined ? undefined : formatOf(chosen)
}

/**
 * True when `Accept` names the type or, by default, its kind (`text/*`), with a quality above 0. The wildcard for all
 * types does not count.
 */
export const namesType = (
  { headers }: Pick<Request, 'headers'>,
  type: string,
  { orKind = true }: { readonly orKind?: boolean } = {},
): boolean => {
  const names = orKind ? [type, `${type.split('/', 1)}/*`] : [type]
  const accept = (headers['accept'] ?? '').replace(charset, '')
  const lower = accept.toLowerCase()
  if (!names.some((name) => lower.includes(name))) return false
  const negotiator = new Negotiator({ headers: { accept } })
  const named = negotiator.mediaTypes().some((one) => names.includes(one.toLowerCase()))
  return named && negotiator.mediaTypes([type]).length > 0
}

export const acceptsGzip = ({ headers }: Pick<Request, 'headers'>): boolean =>
  new Negotiator({ headers: { 'accept-encoding': headers['accept-encoding'] ?? 'identity' } }).encoding(['gzip']) ===
  'gzip'
