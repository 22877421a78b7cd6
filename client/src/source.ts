/** Observes the reading of bytes. */
export interface Watch {
  /** Told how many have been read, each time. */
  onRead(bytes: number): void
  /** Told why they cannot be read. */
  onFault(error: unknown): void
}

/**
 * The bytes of a request cannot be read here, for which no network is to blame, and no further attempt helps: the cause
 * says why.
 */
export class Unreadable extends Error {}

/** Bytes that are read while they are sent. Not every platform sends those: Node does. */
export interface StreamedBody {
  /** In bytes. */
  readonly size: number
  /** A stream of the type `bytes`, which tells the one who watches of each read. Each call begins anew. */
  stream(watch: Watch): ReadableStream<Uint8Array>
}

/** The bytes of a request, such that they can be sent again. */
export type Body = Blob | Uint8Array<ArrayBuffer> | string

/**
 * Bytes of a known number that can be read in any order, and again. A `Blob` is one, and so is a `File` of a browser.
 */
export interface Source {
  /** In bytes. */
  readonly size: number
  /** The bytes from `start` on, up to `end`, which is not among them. */
  slice(start: number, end: number): Body | Promise<Body>
  /**
   * The same bytes, read while they are sent, where the platform sends such: a source that has this is sent in few
   * requests.
   */
  streamed?(start: number, end: number): StreamedBody
}

/** Content that can be stored. */
export type Content = Source | Uint8Array | string

/** Content as a source. Text becomes UTF-8. */
export const sourceOf = (content: Content): Source =>
  typeof content === 'string' || content instanceof Uint8Array
    ? new Blob([typeof content === 'string' ? content : new Uint8Array(content)])
    : content
