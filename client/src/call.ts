import type { Body, StreamedBody, Watch } from './source.ts'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Call {
  readonly method: string
  readonly url: string
  readonly headers?: Headers | Readonly<Record<string, string>>
  readonly body?: Body | StreamedBody | undefined
  readonly signal?: AbortSignal | null | undefined
  /** The signal of the client does not cancel this request. */
  readonly isFinal?: boolean
  /** An abort waits some seconds for the answer, because only the answer names the upload that must be ended. */
  readonly lingers?: boolean
  /**
   * The request may be repeated if its outcome is unknown: after a broken connection, or after a gateway timeout. After
   * 429 and 503, every request is repeated.
   */
  readonly repeatable: boolean
  /** The URL needs no token and must not receive the token, because the service has signed the URL. */
  readonly isSigned?: boolean
  /** True if the caller reads this answer as a stream. The caller then checks that the answer is complete. */
  readonly streams?: (answer: Response) => boolean
  /** Replaces the number of attempts of the client. */
  readonly attempts?: number
  readonly onUncertain?: (() => void) | undefined
}

export const bodySize = (body: Call['body']): number =>
  body === undefined ? 0 : typeof body === 'string' ? body.length : 'size' in body ? body.size : body.length

export const isStreamed = (body: Call['body']): body is StreamedBody =>
  typeof body === 'object' && !(body instanceof Blob || body instanceof Uint8Array)

export const bodyOf = ({ body }: Call, watch: Watch): Pick<RequestInit, 'body'> & { readonly duplex?: 'half' } => {
  if (isStreamed(body)) return { body: body.stream(watch), duplex: 'half' }
  return body === undefined ? {} : { body }
}
