import { hash } from 'node:crypto'
import Negotiator from 'negotiator'
import { ServiceError } from '../core/errors.ts'
import { isWeaklyIn, readTags, type TagList } from '../core/headers.ts'
import type { Format, Formats, Request } from './request.ts'

export const mediaTypes: Readonly<Record<Format, readonly [string, ...string[]]>> = {
  json: ['application/json'],
  xml: ['application/xml', 'text/xml'],
}

export const formatOf = (mediaType: string): Format | undefined =>
  (Object.keys(mediaTypes) as Format[]).find((format) => mediaTypes[format].includes(mediaType))

// Some clients ask for a charset or a version. The formats have no parameters, so only the quality counts.
const parameters = /;\s*(?!q\s*=)[^\s;,="]+\s*=\s*(?:"[^"]*"|[^;,]*)/gi

/** F-26: undefined when `Accept` allows none of the formats. */
export const preferredFormat = ({ headers }: Pick<Request, 'headers'>, offered: Formats): Format | undefined => {
  const accept = (headers['accept'] ?? '').replace(parameters, '').trim()
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
  const accept = (headers['accept'] ?? '').replace(parameters, '')
  const lower = accept.toLowerCase()
  if (!names.some((name) => lower.includes(name))) return false
  const negotiator = new Negotiator({ headers: { accept } })
  const named = negotiator.mediaTypes().some((one) => names.includes(one.toLowerCase()))
  return named && negotiator.mediaTypes([type]).length > 0
}

export const acceptsGzip = ({ headers }: Pick<Request, 'headers'>): boolean =>
  new Negotiator({ headers: { 'accept-encoding': headers['accept-encoding'] ?? 'identity' } }).encoding(['gzip']) ===
  'gzip'

export const tagOfText = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22)

export const tagOf = (value: unknown): string => tagOfText(JSON.stringify(value))

// The two formats (JSON and XML) of one state have different strong tags (RFC 9110, section 8.8.3.3).
export const entityTag = (tag: string, format: Format): string => `"${tag}.${format}"`

const tagsIn = (header: string) => readTags(header) ?? []

const isOfState = (entityTag: string, tag: string) => entityTag.replace(/\.\w+$/, '') === tag

/**
 * Checks the conditions before a change. The tag of either format matches. A malformed list fails. Errors:
 * conditionFailed.
 */
export const checkConditions = (headers: Request['headers'], tag: string): void => {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  const has = (tags: TagList, accepts: (one: { readonly isWeak: boolean }) => boolean): boolean =>
    tags === '*' || tags.some((one) => accepts(one) && isOfState(one.tag, tag))
  if (match !== undefined && !has(tagsIn(match), ({ isWeak }) => !isWeak)) throw new ServiceError('conditionFailed')
  if (noneMatch === undefined || !has(readTags(noneMatch) ?? '*', () => true)) return
  throw new ServiceError('conditionFailed', {
    message:
      'If-None-Match failed. If it names the present state of the resource, read the resource again. Otherwise correct ' +
      'the header: it must be a list of tags such as "a", "b".',
  })
}

export const noneMatchFails = (header: string | undefined, current: string): boolean => {
  if (header === undefined) return false
  const tags = tagsIn(header)
  return tags === '*' || isWeaklyIn(tags, current.slice(1, -1))
}

export type RequestedRange =
  | { readonly kind: 'whole' | 'unsatisfiable' }
  | { readonly kind: 'part'; readonly first: number; readonly last: number }

const whole: RequestedRange = { kind: 'whole' }

export const readRange = (header: string | undefined, size: number): RequestedRange => {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/i.exec(header?.replaceAll(' ', '') ?? '') ?? []
  if (from === '' && to === '') return whole
  if (from === '') {
    const length = Math.min(Number(to), size)
    return length === 0 ? { kind: 'unsatisfiable' } : { kind: 'part', first: size - length, last: size - 1 }
  }
  const first = Number(from)
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (to !== '' && Number(to) < first) return whole
  return first >= size ? { kind: 'unsatisfiable' } : { kind: 'part', first, last }
}
