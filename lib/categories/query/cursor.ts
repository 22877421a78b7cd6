import { createHash } from 'node:crypto'
import type { Comparable } from './comparable.ts'
import { QueryFault } from './fault.ts'
import type { Position } from './order.ts'

/** Names a list by what decides which items it has and in which order. */
export const listHash = (parts: readonly (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 12)

/** An opaque string that says behind which position of which list to go on; without one, from its start. */
export const writeCursor = (hash: string, position: Position | undefined): string =>
  Buffer.from(JSON.stringify(position ? [hash, position.key, ...position.values] : [hash])).toString('base64url')

const parse = (text: string): unknown => {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}

const isComparable = (value: unknown): value is Comparable =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** Reads a cursor of the list with this hash, sorted by as many members. Throws QueryFault for a malformed or a foreign one. */
export const readCursor = (text: string, hash: string, members: number): Position | undefined => {
  const parts = parse(text)
  if (!Array.isArray(parts)) throw new QueryFault('is not a cursor that this service has given out')
  const [listed, key, ...values] = parts as readonly unknown[]
  if (listed !== hash) throw new QueryFault('belongs to another list, or to other switches of this one')
  const isPosition = Number.isSafeInteger(key) && values.length === members && values.every(isComparable)
  const position = isPosition ? { key: Number(key), values } : undefined
  // Decoding is lenient, so what decodes is not yet what was given out.
  if (writeCursor(hash, position) !== text) throw new QueryFault('is not a cursor that this service has given out')
  return position
}
