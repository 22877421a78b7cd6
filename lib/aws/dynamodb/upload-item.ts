import { storedId } from '../../core/ids.ts'
import type { Holding, Target, Upload } from '../../storage/uploads/upload.ts'

/** The MD5 of all parts, one behind the other: 640 of them, which is the most, are 10 KiB. */
interface StoredHolding extends Pick<Holding, 'name' | 'tail'> {
  readonly parts: Uint8Array
}

export const storedHolding = ({ name, parts, tail }: Holding): StoredHolding => ({
  name,
  parts: Buffer.from(parts.join(''), 'hex'),
  tail,
})

/** The record of an upload as the table Uploads has it. */
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

/** What a store gives back, whoever has written it. */
export type Stored = Readonly<Record<string, unknown>>

const damaged = (what: string): Error => new Error(`The record of an upload holds no ${what}`)

const isStored = (value: unknown): value is Stored => typeof value === 'object' && value !== null

const textIn = (stored: Stored, name: string): string => {
  const value = stored[name]
  if (typeof value !== 'string') throw damaged(name)
  return value
}

const numberIn = (stored: Stored, name: string): number => {
  const value = stored[name]
  if (typeof value !== 'number') throw damaged(name)
  return value
}

const optionalIn = <Name extends string>(stored: Stored, name: Name): Partial<Record<Name, string>> => {
  const value: Partial<Record<Name, string>> = {}
  if (stored[name] !== undefined) value[name] = textIn(stored, name)
  return value
}

const targetIn = ({ target }: Stored): Target => {
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

const holdingIn = ({ holding }: Stored): Holding | null => {
  if (holding === null) return null
  if (!isStored(holding) || !(holding['parts'] instanceof Uint8Array)) throw damaged('holding')
  return {
    name: textIn(holding, 'name'),
    parts: Buffer.from(holding['parts']).toString('hex').match(/.{32}/g) ?? [],
    tail: holding['tail'] === null ? null : textIn(holding, 'tail'),
  }
}

/** Throws an Error for what is no record of an upload: then the table is damaged. */
export const toUpload = (id: string, stored: Stored): Upload => ({
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
