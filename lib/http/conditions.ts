import { hash } from 'node:crypto'
import { isStronglyIn, isWeaklyIn, readTags } from '../core/entity-tags.ts'
import { ServiceError } from '../core/errors.ts'
import type { Format } from './negotiate.ts'

/** A tag that names a state by the text that it is written as. */
export const tagOfText = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22)

/** A tag that names a value's present state: equal values, equal tags. */
export const tagOf = (value: unknown): string => tagOfText(JSON.stringify(value))

/** Representations of one state in two formats have different strong tags (RFC 9110, section 8.8.3.3). */
export const entityTag = (tag: string, format: Format): string => `"${tag}.${format}"`

/** The tags of a header; one that is not well-formed has none. */
const tagsIn = (header: string) => readTags(header) ?? []

const isOfState = (entityTag: string, tag: string) => entityTag.replace(/\.\w+$/, '') === tag

/**
 * A check of `If-Match` against the state that a change is about to replace; a tag read in either format will do.
 * Throws conditionFailed. Without the header, everything passes.
 */
export const ifMatch =
  (header: string | undefined) =>
  (tag: string): void => {
    if (header === undefined) return
    const tags = tagsIn(header)
    if (tags === '*' || tags.some((candidate) => !candidate.isWeak && isOfState(candidate.tag, tag))) return
    throw new ServiceError('conditionFailed')
  }

/** Whether `If-Match` names another state than the one with this tag, by strong comparison. */
export const matchFails = (header: string | undefined, current: string): boolean => {
  if (header === undefined) return false
  const tags = tagsIn(header)
  return tags !== '*' && !isStronglyIn(tags, current.slice(1, -1))
}

/** Whether `If-None-Match` names the state with this tag, by weak comparison: the caller has this representation already. */
export const noneMatchFails = (header: string | undefined, current: string): boolean => {
  if (header === undefined) return false
  const tags = tagsIn(header)
  return tags === '*' || isWeaklyIn(tags, current.slice(1, -1))
}

/** What a `Range` header asks for of something that has `size` bytes (RFC 9110, section 14). */
export type RequestedRange =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly first: number; readonly last: number }
  | { readonly kind: 'unsatisfiable' }

const whole: RequestedRange = { kind: 'whole' }

/** One range of bytes; several at once, other units and what is not well-formed are passed over, as the RFC allows. */
export const readRange = (header: string | undefined, size: number): RequestedRange => {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(' ', '') ?? '') ?? []
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
