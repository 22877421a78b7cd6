import type { Readable } from 'node:stream'
import type { Json } from '../core/pages.ts'
import { tagOfText } from './representation.ts'

export interface Document {
  readonly value: object
  readonly xml?: { readonly root: string; readonly item?: string }
}

export type XmlDocument = Required<Document>

export const byValue = Symbol('by value')

interface Head {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

export interface DocumentReply extends Head {
  readonly document: Document
  readonly tag?: string | typeof byValue
}

// A stream without a length is endless, and stops when the caller disconnects. `elsewhere` is the reply to send when
// the platform cannot carry these bytes.
export interface ContentReply extends Head {
  readonly content: {
    readonly type: string
    readonly length?: number
    readonly bytes?: Readable | Uint8Array | string
    readonly elsewhere?: () => Promise<Reply>
  }
  readonly tag?: string
}

export interface TextReply extends ContentReply {
  readonly content: { readonly type: string; readonly bytes: string }
}

export type Reply = DocumentReply | ContentReply | Head

type How = Pick<DocumentReply, 'tag' | 'headers'> & Pick<Document, 'xml'>

export const ok = <Value extends object>(value: Value, { xml, ...how }: How = {}): DocumentReply => ({
  status: 200,
  document: { value, ...(xml && { xml }) },
  ...how,
})

export const text = (type: string, bytes: string, tag?: string): TextReply => ({
  status: 200,
  content: { type: `${type}; charset=utf-8`, bytes },
  ...(tag && { tag }),
})

export const okWithJson = <Value extends object>(json: Json<Value>): TextReply =>
  text('application/json', json, `${tagOfText(json)}.json`)

export const neverStored = { 'Cache-Control': 'no-store' }

export const secret = <Value extends object>(value: Value, status = 200): DocumentReply => ({
  ...ok(value, { headers: neverStored }),
  status,
})

export const done: Reply = { status: 200 }

const largestCache = 4_000_000

const sizeOf = (key: string, { content }: TextReply): number => key.length + content.bytes.length

/**
 * Keeps each reply until `stateOf` returns another name. A name is never used for two states. Without a name, no reply
 * is kept.
 */
export const createReplyCache = (stateOf: () => Promise<string | undefined>) => {
  let state: string | undefined
  let length = 0
  const kept = new Map<string, TextReply>()

  const keep = (key: string, reply: TextReply) => {
    if (kept.has(key)) return
    kept.set(key, reply)
    length += sizeOf(key, reply)
    for (const [oldest, old] of kept) {
      if (length <= largestCache) return
      kept.delete(oldest)
      length -= sizeOf(oldest, old)
    }
  }

  return async (key: string, make: () => Promise<TextReply>): Promise<TextReply> => {
    // Read the state before the data: a reply with old data must not be kept for a newer state.
    const present = await stateOf()
    if (present === undefined) return make()
    if (present !== state) {
      state = present
      length = 0
      kept.clear()
    }
    const known = kept.get(key)
    if (known) return known
    const reply = await make()
    if (present === state) keep(key, reply)
    return reply
  }
}
