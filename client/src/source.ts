export interface Watch {
  onRead(bytes: number): void
  onFault(error: unknown): void
}

/**
 * The local bytes cannot be read. A repetition does not help, because the network is not the cause. `cause` contains
 * the reason.
 */
export class Unreadable extends Error {}

/** A body that is read while it is sent. Node supports this; some browsers do not. */
export interface StreamedBody {
  readonly size: number
  /** A new stream of the type `bytes` for each call. It reports every read to `watch`. */
  stream(watch: Watch): ReadableStream<Uint8Array>
}

export type Body = Blob | Uint8Array<ArrayBuffer> | string

/** In bytes: every installation accepts this much in one request. API Gateway allows 4.5 MB. */
export const largestRequest = 4_500_000
/** In bytes: the size of each part of an upload, except the last one. A smaller file has no parts. */
export const partLength = 8 * 1024 ** 2

/**
 * Bytes of a known size that can be read repeatedly, in any order. A `Blob` is such a source, and so is a `File` in a
 * browser.
 */
export interface Source {
  readonly size: number
  /** The bytes from `start` up to, but not including, `end`. */
  slice(start: number, end: number): Body | Promise<Body>
  streamed?(start: number, end: number): StreamedBody
}

export type Content = Source | Uint8Array | string

export const sourceOf = (content: Content): Source =>
  typeof content === 'string' || content instanceof Uint8Array
    ? new Blob([typeof content === 'string' ? content : new Uint8Array(content)])
    : content
