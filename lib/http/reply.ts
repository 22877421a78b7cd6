import type { Readable } from 'node:stream'
import type { Json } from '../core/answer-size.ts'
import { tagOfText } from './conditions.ts'
import { contentTypes } from './negotiate.ts'

/** The root element of a value in XML, and the element name of the entries of its `items`. */
interface XmlNames {
  readonly root: string
  readonly item?: string
}

/** A value to be written in the format that the caller prefers; in JSON where it has no names in XML. */
export interface Document<Value extends object = object> {
  readonly value: Value
  readonly xml?: XmlNames
}

/** A document that can be written in XML. */
export interface XmlDocument extends Document {
  readonly xml: XmlNames
}

/** The tag of a document that names its state by all that it says. */
export const byValue = Symbol('by value')

interface Head {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

export interface DocumentReply extends Head {
  readonly document: Document
  /** Names the state of the resource; becomes the `ETag`. */
  readonly tag?: string | typeof byValue
}

/** Text that is sent as it is. */
export interface TextReply extends Head {
  readonly text: { readonly type: string; readonly body: string }
  readonly tag?: string
}

/** Bytes that are sent as they are. */
interface ContentReply extends Head {
  readonly content: {
    readonly type: string
    readonly length: number
    /** Absent where only the headers are asked for. */
    readonly bytes?: Readable | Uint8Array
    /** What to answer in its place where the platform cannot carry these bytes. */
    readonly elsewhere?: () => Promise<Reply>
  }
}

/** A status and headers alone. */
type EmptyReply = Head

/** What an operation answers, before it is put into bytes. */
export type Reply = DocumentReply | TextReply | ContentReply | EmptyReply

/** 200 with a value; its type is what the document says of the operation. */
export const ok = <Value extends object>(document: Document<Value>, tag?: DocumentReply['tag']): DocumentReply => ({
  status: 200,
  document,
  ...(tag && { tag }),
})

/** 200 with a JSON value, tagged by the value itself. */
export const okWithTag = <Value extends object>(value: Value): DocumentReply => ok({ value }, byValue)

/** 200 with a value that is written as JSON already, tagged by its text; for groups that answer JSON only. */
export const okWithJson = <Value extends object>(json: Json<Value>): TextReply => ({
  status: 200,
  text: { type: contentTypes.json, body: json },
  tag: `${tagOfText(json)}.json`,
})

/** 200 with text that is sent as it is. */
export const text = (type: string, body: string, tag?: string): TextReply => ({
  status: 200,
  text: { type: `${type}; charset=utf-8`, body },
  ...(tag && { tag }),
})

/** 200 with `Content-Length: 0`. */
export const done: Reply = { status: 200 }
