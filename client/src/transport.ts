import { addressNote, hostOf } from './addresses.ts'
import { bodySize, type Call, isStreamed } from './call.ts'
import { createRedirectFollower, type Reach } from './follow-redirects.ts'
import { failureOf, retryAfter, ServiceError, unexpectedAnswer } from './service-error.ts'
import { Unreadable } from './source.ts'

export interface Patience {
  readonly attempts?: number
  /**
   * In milliseconds: the longest wait before the second attempt. The longest wait doubles with each attempt. Default:
   * 250.
   */
  readonly delay?: number
}

export interface TransportOptions extends Patience, Reach {
  readonly signal?: AbortSignal | undefined
}

/** In milliseconds: the longest wait between two attempts, and the longest `Retry-After` that is obeyed. */
const longestDelay = 20_000
export const longestRetryAfter = 120_000

/** In bytes: platforms and systems may buffer this much after a read. */
const mostUnderway = 5_000_000

// In milliseconds, for an answer: a minute, and the time that the bytes take at 16 kB/s.
const timeoutFor = (bytes: number): number => 60_000 + Math.ceil(bytes / 16)

const anyOf = (one: AbortSignal | null | undefined, other: AbortSignal | undefined): AbortSignal | undefined =>
  one && other && one !== other ? AbortSignal.any([one, other]) : (one ?? other)

// In milliseconds: how long a request lingers after an abort.
const longestLinger = 5_000

const lingering = async <Result>(
  signal: AbortSignal | null | undefined,
  run: (late: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  signal?.throwIfAborted()
  const late = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const abort = () => {
    timer = setTimeout(() => late.abort(signal?.reason), longestLinger)
  }
  signal?.addEventListener('abort', abort, { once: true })
  try {
    return await run(late.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

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

const isTemporaryRefusal = (status: number): boolean => status === 429 || status === 503
/** A gateway has stopped waiting, but the service may have carried out the request. */
const isUncertain = (status: number): boolean => status === 502 || status === 504

const longestAnswer = 32_000_000
export const hasNoBody = (status: number): boolean => [101, 204, 205, 304].includes(status)

// A captive portal answers every request with a page. The service sends no pages to this client (S-66).
const isPage = ({ headers }: Response): boolean => headers.get('Content-Type')?.includes('html') === true

const whole = async ({ status, headers, body }: Response, onRead: () => void): Promise<Response> => {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  const reader = body?.getReader()
  let size = 0
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    onRead()
    chunks.push(new Uint8Array(read.value))
    size += read.value.length
    if (size <= longestAnswer) continue
    await reader?.cancel()
    throw new TypeError('The answer is too long.')
  }
  return new Response(hasNoBody(status) ? null : new Blob(chunks), { status, headers })
}

type Outcome = { readonly response: Response } | { readonly fault: unknown }

// The error code of Node, in brackets, because an untrusted certificate and a wrong port need different remedies.
// Browsers give no code.
const reasonOf = (fault: unknown): string => {
  const { code, cause } = Object(fault)
  const name = typeof code === 'string' ? code : Object(cause).code
  return typeof name === 'string' ? ` (${name})` : ''
}

/** In bytes: the bodies of all requests that run now. They share the connection to the network. */
interface Underway {
  bytes: number
}

const attempt = async (
  follow: ReturnType<typeof createRedirectFollower>,
  call: Call,
  underway: Underway,
): Promise<Outcome> => {
  const timeout = new AbortController()
  const size = bodySize(call.body)
  const hasStream = isStreamed(call.body)
  const shared = hasStream ? 0 : size
  underway.bytes += shared
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  // Requests that begin later make the limit longer.
  const wait = (waited: number): void => {
    const limit = timeoutFor(hasStream ? Math.min(size, mostUnderway) : underway.bytes)
    if (waited < limit) timer = setTimeout(wait, limit - waited, limit)
    else timeout.abort(new Error('No answer arrived in time.'))
  }
  // The time counts from the last read of streamed bytes, or of the answer.
  const begin = () => {
    clearTimeout(timer)
    if (!isOver) wait(0)
  }
  begin()
  let unreadable: Unreadable | undefined
  const onFault = (cause: unknown) => {
    unreadable = new Unreadable('The bytes cannot be read.', { cause })
  }
  try {
    const response = await follow(call, anyOf(call.signal, timeout.signal) ?? timeout.signal, {
      onRead: begin,
      onFault,
    })
    const isStream = response.ok && !isPage(response) && call.streams?.(response)
    return { response: isStream ? response : await whole(response, begin) }
  } catch (fault) {
    call.signal?.throwIfAborted()
    if (unreadable) throw unreadable
    return { fault }
  } finally {
    isOver = true
    clearTimeout(timer)
    underway.bytes -= shared
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
            `${hostOf(call.url)} did not answer${reasonOf(fault)}. Check the address and the network, then ` +
            `repeat${call.repeatable ? '' : ', unless the change was made'}.${addressNote(call.url, base)}`,
        },
        { cause: fault },
      )

const retryDelay = (
  { attempts = 6, delay = 250 }: Patience,
  call: Call,
  outcome: Outcome,
  attempted: number,
): number | undefined => {
  if (attempted >= (call.attempts ?? attempts)) return undefined
  const jittered = Math.random() * Math.min(longestDelay, delay * 2 ** (attempted - 1))
  if ('fault' in outcome) {
    if (!call.repeatable || outcome.fault instanceof ServiceError) return undefined
    call.onUncertain?.()
    return jittered
  }
  const { status, headers } = outcome.response
  if (isUncertain(status) && call.repeatable) call.onUncertain?.()
  else if (!isTemporaryRefusal(status)) return undefined
  const requested = retryAfter(headers)
  return requested > longestRetryAfter ? undefined : requested + jittered
}

const pathIn = (url: string): string | undefined => {
  const [, path] = /^[^?]*?\/sites\/\d+\/storage\/([^?]+)/.exec(url) ?? []
  return path && decodeURIComponent(path)
}

const accepted = async (call: Call, response: Response, base: string): Promise<Response> => {
  if (response.status === 304) return response
  const isUnexpected = response.ok && isPage(response)
  if (response.ok && !isUnexpected) return response
  const host = hostOf(call.url)
  const failure = isUnexpected ? unexpectedAnswer(response, host) : await failureOf(response, host)
  // The token and the paths of this service mean nothing to another server. So the note names the address.
  const isOther = failure.code === failure.status || failure.status === 401
  const note = isOther ? addressNote(call.url, base) : ''
  throw new ServiceError({ ...failure, message: `${failure.message}${note}`, path: pathIn(call.url) })
}

/**
 * Sends requests with the token to trusted addresses only. Repeats a request if that is safe and can help, after a
 * random wait (full jitter), and never before `Retry-After`. Returns answers with status 2xx or 304. Throws a
 * `ServiceError` for all other answers, `Unreadable` for local bytes that cannot be read, and the reason of the signal.
 */
export const createTransport = ({ signal: ends, ...options }: TransportOptions) => {
  const follow = createRedirectFollower(options)
  const underway: Underway = { bytes: 0 }
  const send = async (call: Call): Promise<Response> => {
    call.signal?.throwIfAborted()
    for (let attempted = 1; ; attempted++) {
      const outcome = await attempt(follow, call, underway)
      const wait = retryDelay(options, call, outcome, attempted)
      if (wait === undefined) {
        if ('fault' in outcome) throw unreachable(call, outcome.fault, options.base)
        return accepted(call, outcome.response, options.base)
      }
      await pause(wait, call.signal)
    }
  }
  return (given: Call): Promise<Response> => {
    const call = given.isFinal ? given : { ...given, signal: anyOf(given.signal, ends) }
    return call.lingers ? lingering(call.signal, (signal) => send({ ...call, signal })) : send(call)
  }
}

export type Send = ReturnType<typeof createTransport>
