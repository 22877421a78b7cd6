import type { Body, StreamedBody } from './transport.ts'

/** Bytes of a known number that can be read in any order, and again. A `Blob` is one, and so is a `File` of a browser. */
export interface Source {
  /** In bytes. */
  readonly size: number
  /** The bytes from `start` on, up to `end`, which is not among them. */
  slice(start: number, end: number): Body | Promise<Body>
  /** The same bytes, read while they are sent, where the platform sends such: a source that has this is sent in few requests. */
  streamed?(start: number, end: number): StreamedBody
}

/** What can be stored. */
export type Content = Source | Uint8Array | string

/** Content as a source. Text becomes UTF-8. */
export const sourceOf = (content: Content): Source =>
  typeof content === 'string' || content instanceof Uint8Array
    ? new Blob([typeof content === 'string' ? content : new Uint8Array(content)])
    : content
