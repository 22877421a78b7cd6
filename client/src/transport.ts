import { addressNote, foreign, hostOf, misled, refuseDowngrade } from './addresses.ts'
import { failureOf, ServiceError, strangeAnswer } from './service-error.ts'
import { type Body, type StreamedBody, Unreadable, type Watch } from './source.ts'

/** The `fetch` of every platform fits. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** A request. */
export interface Call {
  readonly method: string
  readonly url: string
  readonly headers?: Headers | Readonly<Record<string, string>>
  readonly body?: Body | StreamedBody | undefined
  readonly signal?: AbortSignal | null | undefined
  /**
   * The request may be repeated when its outcome is unknown: after a broken connection, or a gateway timeout. A request
   * that the service has refused for the moment (429, 503) is always repeated.
   */
  readonly repeatable: boolean
  /** The caller reads the answer as a stream, and must check that it is complete. */
  readonly streams?: boolean
  /** Told before a request is sent again of which nobody knows what became. */
  readonly onUncertain?: (() => void) | undefined
}

/** Retries after passing failures. */
export interface Patience {
  /** The most attempts, 6 by default. */
  readonly attempts?: number
  /**
   * The longest wait before the second attempt, in milliseconds; it doubles from one attempt to the next. 250 unless
   * told.
   */
  readonly delay?: number
}

export interface TransportOptions extends Patience {
  readonly token: string
  /** The address that the caller gave. Its service says which others may have the token. */
  readonly base: string
  /** The base URLs that may have the token. */
  readonly trusted: () => readonly string[]
  readonly fetch: Fetch
  /** Ends every request. */
  readonly signal?: AbortSignal | undefined
}

/** The longest wait between two attempts, and the longest that `Retry-After` is heeded for, in milliseconds. */
const longestDelay = 20_000
const longestRetryAfter = 120_000
const mostRedirects = 3

/**
 * So much of what was read while it is sent may still be on its way, in bytes: platforms and systems hold some back.
 */
const mostUnderway = 5_000_000

// Milliseconds for an answer: a minute plus the time of the bytes at 16 kB/s. For streamed bytes, the time since the
// last read.
const timeFor = (body: Call['body']): number => {
  const size =
    body === undefined ? 0 : typeof body === 'string' ? body.length : 'size' in body ? body.size : body.length
  return 60_000 + Math.ceil((body !== undefined && isStreamed(body) ? Math.min(size, mostUnderway) : size) / 16)
}

/** A signal that comes with the first one of both. */
const either = (one: AbortSignal | null | undefined, other: AbortSignal | undefined): AbortSignal | undefined =>
  one && other && one !== other ? AbortSignal.any([one, other]) : (one ?? other)

/** Waits, unless the signal says to stop. Rejects with the reason of the signal. */
export const pause = (milliseconds: number, signal?: AbortSignal | null): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })

// Milliseconds; the header has seconds or a date (RFC 9110, section 10.2.3).
const retryAfter = (headers: Headers): number => {
  const value = headers.get('Retry-After') ?? ''
  const wait = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(wait) ? 0 : Math.max(0, wait)
}

/** The service has not carried the request out, or says that repeating it is safe. */
const isRefusedForNow = (status: number): boolean => status === 429 || status === 503
/** Something in between has given up: the service may have carried the request out. */
const isUncertain = (status: number): boolean => status === 502 || status === 504

/** No answer but a file is longer, in bytes. */
const longestAnswer = 32_000_000
export const hasNoBody = (status: number): boolean => [101, 204, 205, 304].includes(status)

// A captive portal answers every request with a page. The service never answers a change with one.
const isPage = ({ method }: Call, { headers }: Response): boolean =>
  method !== 'GET' && headers.get('Content-Type')?.includes('html') === true

/** The same answer with all of its bytes. Rejects when they do not come, or do not end. */
const whole = async ({ status, headers, body }: Response): Promise<Response> => {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  const reader = body?.getReader()
  let size = 0
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    chunks.push(new Uint8Array(read.value))
    size += read.value.length
    if (size <= longestAnswer) continue
    await reader?.cancel()
    throw new TypeError('The answer is too long.')
  }
  return new Response(hasNoBody(status) ? null : new Blob(chunks), { status, headers })
}

/** An answer, or the failure to get one. */
type Outcome = { readonly response: Response } | { readonly fault: unknown }

// The error code of Node, in brackets: an untrusted certificate needs another remedy than a wrong port. Browsers have
// no code.
const reasonOf = (fault: unknown): string => {
  const { code, cause } = Object(fault)
  const name = typeof code === 'string' ? code : Object(cause).code
  return typeof name === 'string' ? ` (${name})` : ''
}

const redirectOf = ({ status, headers }: Response, url: string): string | undefined => {
  const location = headers.get('Location')
  return location && [301, 302, 307, 308].includes(status) ? new URL(location, url).href : undefined
}

/** Bytes may lie in a bucket, whose address is all that it takes: it must not see the token. */
const isOfBytes = ({ method }: Call, { status }: Response): boolean => method === 'GET' && status === 302

const isStreamed = (body: Body | StreamedBody): body is StreamedBody =>
  typeof body !== 'string' && !(body instanceof Blob) && !(body instanceof Uint8Array)

// `duplex` is for streamed bytes.
const bodyOf = ({ body }: Call, watch: Watch): Pick<RequestInit, 'body'> & { readonly duplex?: 'half' } => {
  if (body === undefined) return {}
  if (!isStreamed(body)) return { body }
  return { body: body.stream(watch), duplex: 'half' }
}

const rangeOf = (headers: RequestInit['headers']): Pick<RequestInit, 'headers'> => {
  const range = new Headers(headers).get('Range')
  return range === null ? {} : { headers: { Range: range } }
}

// Follows redirects to trusted addresses.
const createFollow = ({ token, base: given, trusted, fetch: send }: Omit<TransportOptions, 'signal'>) => {
  const isTrusted = (url: string) => trusted().some((base) => url.startsWith(`${base}/`))

  /** The answer to a request, or the trusted address that it is sent on to. */
  const hop = async (call: Call, url: string, init: RequestInit, watch: Watch): Promise<Response | string> => {
    refuseDowngrade(given, url)
    if (!isTrusted(url)) throw foreign(url)
    const response = await send(url, { ...init, ...bodyOf(call, watch) })
    // A browser shows nothing of a redirect. It drops the token itself when it leaves the host.
    if (response.type === 'opaqueredirect' && call.method === 'GET') return send(url, { ...init, redirect: 'follow' })
    const target = redirectOf(response, url)
    if (target === undefined) return response
    refuseDowngrade(url, target)
    if (isTrusted(target)) return target
    if (!isOfBytes(call, response)) throw misled(response.status, target)
    return send(target, { signal: init.signal ?? null, ...rangeOf(init.headers) })
  }

  return async (call: Call, signal: AbortSignal, watch: Watch): Promise<Response> => {
    const headers = new Headers(call.headers)
    headers.set('Authorization', token)
    // Else they would come in chunks, and what stands in front of the service may want to know how many they are.
    if (call.body !== undefined && isStreamed(call.body)) headers.set('Content-Length', String(call.body.size))
    // The own follower of fetch would take the token along, or drop it, as the platform likes.
    const init: RequestInit = { method: call.method, headers, redirect: 'manual', signal }
    let answer = await hop(call, call.url, init, watch)
    for (let redirects = 0; typeof answer === 'string'; redirects++) {
      if (redirects === mostRedirects) throw misled(301, answer)
      answer = await hop(call, answer, init, watch)
    }
    return answer
  }
}

const attempt = async (follow: ReturnType<typeof createFollow>, call: Call): Promise<Outcome> => {
  const late = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  const begin = () => {
    clearTimeout(timer)
    // A read that was under way when the connection broke may still be told.
    if (isOver) return
    timer = setTimeout(() => late.abort(new Error('No answer in time.')), timeFor(call.body))
  }
  begin()
  let unread: Unreadable | undefined
  const onFault = (cause: unknown) => {
    unread = new Unreadable('The bytes cannot be read.', { cause })
  }
  try {
    const response = await follow(call, either(call.signal, late.signal) ?? late.signal, { onRead: begin, onFault })
    // The bytes of a file may take as long as they need.
    return { response: call.streams && response.ok ? response : await whole(response) }
  } catch (fault) {
    call.signal?.throwIfAborted()
    if (unread) throw unread
    return { fault }
  } finally {
    isOver = true
    clearTimeout(timer)
  }
}

const unreachable = (call: Call, fault: unknown, base: string): ServiceError =>
  fault instanceof ServiceError
    ? fault
    : new ServiceError(
        {
          status: 0,
          code: 0,
          message:
            `No answer came from ${hostOf(call.url)}${reasonOf(fault)}. Check the address and the network, then ` +
            `repeat${call.repeatable ? '' : ', unless the change was made'}.${addressNote(call.url, base)}`,
        },
        { cause: fault },
      )

// Milliseconds until the next attempt; undefined for none.
const waitAfter = (
  { attempts = 6, delay = 250 }: Patience,
  call: Call,
  outcome: Outcome,
  attempted: number,
): number | undefined => {
  if (attempted >= attempts) return undefined
  const jittered = Math.random() * Math.min(longestDelay, delay * 2 ** (attempted - 1))
  if ('fault' in outcome) {
    if (!call.repeatable || outcome.fault instanceof ServiceError) return undefined
    call.onUncertain?.()
    return jittered
  }
  const { status, headers } = outcome.response
  if (isUncertain(status) && call.repeatable) call.onUncertain?.()
  else if (!isRefusedForNow(status)) return undefined
  const asked = retryAfter(headers)
  return asked > longestRetryAfter ? undefined : asked + jittered
}

const accepted = async (call: Call, response: Response, base: string): Promise<Response> => {
  if (response.status === 304) return response
  const isStrange = response.ok && isPage(call, response)
  if (response.ok && !isStrange) return response
  const failure = await (isStrange ? strangeAnswer(response, hostOf(call.url)) : failureOf(response, hostOf(call.url)))
  // Another service there knows neither the path nor the token.
  const isOther = failure.code === failure.status || failure.status === 401
  throw isOther
    ? new ServiceError({ ...failure, message: `${failure.message}${addressNote(call.url, base)}` })
    : failure
}

/**
 * Sends requests with the token, to trusted addresses alone, and again where that is safe and helps: with full jitter,
 * and no sooner than `Retry-After` says. Answers with status 2xx, 304 or 3xx to elsewhere are given back; everything
 * else is thrown as a `ServiceError`; `Unreadable` where the bytes to be sent are to blame. A signal throws its own
 * reason.
 */
export const createTransport = ({ signal: ends, ...options }: TransportOptions) => {
  const follow = createFollow(options)
  return async (given: Call): Promise<Response> => {
    const call = { ...given, signal: either(given.signal, ends) }
    call.signal?.throwIfAborted()
    for (let attempted = 1; ; attempted++) {
      const outcome = await attempt(follow, call)
      const wait = waitAfter(options, call, outcome, attempted)
      if (wait === undefined) {
        if ('fault' in outcome) throw unreachable(call, outcome.fault, options.base)
        return accepted(call, outcome.response, options.base)
      }
      await pause(wait, call.signal)
    }
  }
}

export type Send = ReturnType<typeof createTransport>
