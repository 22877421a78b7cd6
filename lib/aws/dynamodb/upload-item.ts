import { storedId } from '../../core/ids.ts'
import type { Holding, Target, Upload } from '../../storage/uploads/upload.ts'
import type { Attributes } from './dynamodb.ts'

// The MD5 sums of all parts in a row: at most 640 of them, or 10 KiB.
interface StoredHolding extends Pick<Holding, 'name' | 'tail'> {
  readonly parts: Uint8Array
}

export const storedHolding = ({ name, parts, tail }: Holding): StoredHolding => ({
  name,
  parts: Buffer.from(parts.join(''), 'hex'),
  tail,
})

interface Item {
  readonly site: number
  readonly user: string
  readonly target: Target
  readonly metadata: string
  readonly limit: number
  readonly length: number | null
  readonly offset: number
  readonly complete: boolean
  readonly created: number
  readonly ends: number
  readonly holding: StoredHolding | null
  readonly holder?: string
  readonly until?: number
}

export const itemOf = ({ isComplete, expires, holding, id: _, ...rest }: Upload): Item => ({
  ...rest,
  holding: holding && storedHolding(holding),
  complete: isComplete,
  ends: expires,
})

const damaged = (name: string): Error => new Error(`The record of an upload has no ${name}`)

const isStored = (value: unknown): value is Attributes => typeof value === 'object' && value !== null

const textIn = (stored: Attributes, name: string): string => {
  const value = stored[name]
  if (typeof value !== 'string') throw damaged(name)
  return value
}

const numberIn = (stored: Attributes, name: string): number => {
  const value = stored[name]
  if (typeof value !== 'number') throw damaged(name)
  return value
}

const optionalIn = <Name extends string>(stored: Attributes, name: Name): Partial<Record<Name, string>> => {
  const value: Partial<Record<Name, string>> = {}
  if (stored[name] !== undefined) value[name] = textIn(stored, name)
  return value
}

const targetIn = ({ target }: Attributes): Target => {
  if (!isStored(target)) throw damaged('target')
  return {
    path: textIn(target, 'path'),
    asDraft: target['asDraft'] === true,
    key: textIn(target, 'key'),
    contentType: textIn(target, 'contentType'),
    ...(target['keepsDraft'] !== undefined && { keepsDraft: target['keepsDraft'] === true }),
    ...optionalIn(target, 'folder'),
    ...optionalIn(target, 'ifMatch'),
    ...optionalIn(target, 'ifNoneMatch'),
  }
}

const holdingIn = ({ holding }: Attributes): Holding | null => {
  if (holding === null) return null
  if (!isStored(holding) || !(holding['parts'] instanceof Uint8Array)) throw damaged('holding')
  return {
    name: textIn(holding, 'name'),
    parts: Buffer.from(holding['parts']).toString('hex').match(/.{32}/g) ?? [],
    tail: holding['tail'] === null ? null : textIn(holding, 'tail'),
  }
}

/** Throws an Error when the item is damaged. */
export const toUpload = (id: string, stored: Attributes): Upload => ({
  id,
  site: storedId(stored['site']),
  user: textIn(stored, 'user'),
  target: targetIn(stored),
  metadata: textIn(stored, 'metadata'),
  limit: numberIn(stored, 'limit'),
  length: stored['length'] === null ? null : numberIn(stored, 'length'),
  offset: numberIn(stored, 'offset'),
  isComplete: stored['complete'] === true,
  created: numberIn(stored, 'created'),
  expires: numberIn(stored, 'ends'),
  holding: holdingIn(stored),
})
