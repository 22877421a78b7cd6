import type { Readable } from 'node:stream'
import { tagOf } from './conditions.ts'

/** A value to be written in the format that the caller prefers. */
export interface Document<Value extends object = object> {
  readonly value: Value
  /** Its root element in XML, and the element name of the entries of its `items`; not for groups that answer JSON only. */
  readonly xml?: { readonly root: string; readonly item?: string }
}

/** Bytes that are sent as they are. */
interface Content {
  readonly type: string
  readonly length: number
  /** Absent where only the headers are asked for. */
  readonly stream?: Readable
}

/** Text that is sent as it is. */
export interface Text {
  readonly type: string
  readonly body: string
}

/** What an operation answers, before it is put into bytes. It has a document, text or content: one at the most. */
export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly document?: Document
  readonly text?: Text
  readonly content?: Content
  /** Names the state of the resource; becomes the `ETag`. */
  readonly tag?: string
}

/** A reply in its final form. */
export interface RenderedReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Readable
}

/** 200 with a value; its type is what the document says of the operation. */
export const ok = <Value extends object>(document: Document<Value>, tag?: string): Reply => ({
  status: 200,
  document,
  ...(tag && { tag }),
})

/** 200 with a JSON value, tagged by the value itself. */
export const okWithTag = <Value extends object>(value: Value): Reply => ok({ value }, tagOf(value))

/** 200 with text that is sent as it is. */
export const text = (type: string, body: string, tag?: string): Reply => ({
  status: 200,
  text: { type: `${type}; charset=utf-8`, body },
  ...(tag && { tag }),
})

/** 200 with `Content-Length: 0`. */
export const done: Reply = { status: 200 }
