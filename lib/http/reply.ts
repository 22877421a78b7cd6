import type { Readable } from 'node:stream'
import type { Json } from '../core/answer-size.ts'
import { tagOfText } from './conditions.ts'
import { contentTypes } from './negotiate.ts'

interface XmlNames {
  readonly root: string
  readonly item?: string
}

export interface Document {
  readonly value: object
  readonly xml?: XmlNames
}

export interface XmlDocument extends Document {
  readonly xml: XmlNames
}

export const byValue = Symbol('by value')

interface Head {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

export interface DocumentReply extends Head {
  readonly document: Document
  readonly tag?: string | typeof byValue
}

export interface TextReply extends Head {
  readonly text: { readonly type: string; readonly body: string }
  readonly tag?: string
}

interface ContentReply extends Head {
  readonly content: {
    readonly type: string
    // Undefined for an endless stream, which stops when the caller disconnects.
    readonly length?: number
    readonly bytes?: Readable | Uint8Array
    // The reply to send when the platform cannot carry these bytes.
    readonly elsewhere?: () => Promise<Reply>
  }
}

export type Reply = DocumentReply | TextReply | ContentReply | Head

interface How extends Pick<DocumentReply, 'tag' | 'headers'> {
  readonly xml?: XmlNames
}

export const ok = <Value extends object>(value: Value, { xml, ...how }: How = {}): DocumentReply => ({
  status: 200,
  document: { value, ...(xml && { xml }) },
  ...how,
})

export const created = <Value extends object>(
  value: Value,
  headers: NonNullable<Head['headers']>,
  xml?: XmlNames,
): DocumentReply => ({ ...ok(value, { headers, ...(xml && { xml }) }), status: 201 })

export const okWithJson = <Value extends object>(json: Json<Value>): TextReply => ({
  status: 200,
  text: { type: contentTypes.json, body: json },
  tag: `${tagOfText(json)}.json`,
})

export const text = (type: string, body: string, tag?: string): TextReply => ({
  status: 200,
  text: { type: `${type}; charset=utf-8`, body },
  ...(tag && { tag }),
})

export const neverStored = { 'Cache-Control': 'no-store' }

export const secret = <Value extends object>(value: Value, status = 200): DocumentReply => ({
  ...ok(value, { headers: neverStored }),
  status,
})

export const done: Reply = { status: 200 }
