import { hostOf } from './addresses.ts'
import type { Connection } from './connection.ts'
import { readEvents } from './event-stream.ts'
import type { Change, ChangePage, ChangeType } from './generated/types.gen.ts'
import { answerOf, isList, ServiceError, unexpectedAnswer } from './service-error.ts'
import { longestRetryAfter, pause } from './transport.ts'

export interface ChangesQuery {
  /** The list begins after the change with this id. By default, it begins with the oldest change. */
  readonly after?: string
  readonly types?: readonly ChangeType[]
  readonly subject?: string
}

export interface FollowQuery extends ChangesQuery {
  readonly signal?: AbortSignal
  /**
   * The client calls this with the failure when it loses the connection, and without an argument when the connection is
   * back.
   */
  readonly onConnection?: (failure?: ServiceError) => void
}

/** A change, or only an id to continue from. */
interface Step {
  readonly id: string
  readonly change?: Change
}

/** In seconds: the service answers after this time if there is no change, unless it streams. */
const longestWait = 20

/** In milliseconds. The service sends a comment every 15 s, so a longer silence means that the connection is dead. */
const longestSilence = 45_000
const [shortestPause, longestPause] = [1_000, 60_000]

export const isRefusal = ({ status }: ServiceError): boolean =>
  status >= 400 && status < 500 && ![408, 429].includes(status)

/** The code of another server, such as a proxy, is its status. */
const isFinal = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && isRefusal(error) && error.code !== error.status

const asServiceError = (error: unknown, host: string): ServiceError =>
  error instanceof ServiceError
    ? error
    : new ServiceError(
        { status: 0, code: 0, message: `The connection to ${host} was lost. The client opens another connection.` },
        { cause: error },
      )

const urlOf = ({ site }: Connection, { types, subject }: ChangesQuery, more: Readonly<Record<string, string>>) => {
  const query = new URLSearchParams({ ...more, ...(types && { type: types.join(',') }), ...(subject && { subject }) })
  return `${site.url}/api/v2/admin/sites/${site.id}/changes?${query}`
}

const limitRead = <Value>(read: Promise<Value>, signal: AbortSignal): Promise<Value> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    const timer = setTimeout(() => reject(new Error('The service sent nothing for too long.')), longestSilence)
    signal.addEventListener('abort', stop, { once: true })
    read.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    })
  })

async function* readStream(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Step, void> {
  for await (const { id, data } of readEvents(body, (read) => limitRead(read, signal))) {
    if (id !== undefined) yield { id, ...(data !== '' && { change: JSON.parse(data) }) }
  }
}

const hasType = ({ headers }: Response, type: string): boolean => headers.get('Content-Type')?.startsWith(type) ?? false

const isStream = (answer: Response): boolean => hasType(answer, 'text/event-stream')

const isPage = ({ items, next }: Partial<ChangePage>): boolean => isList(items) && next !== undefined

/**
 * A service that cannot stream waits before it answers an empty page. An immediate empty page means that too many
 * requests wait.
 */
async function* readPage(page: ChangePage, waited: number, signal: AbortSignal): AsyncGenerator<Step, void> {
  for (const change of page.items) yield { id: change.id, change }
  if (page.next !== null) yield { id: page.next }
  else if (page.items.length === 0 && waited < shortestPause) await pause(5 * shortestPause, signal)
}

/** Yields the steps after a position, until the answer ends. */
async function* followOnce(
  connection: Connection,
  query: FollowQuery,
  after: string,
  onOpen: () => void,
): AsyncGenerator<Step, void> {
  const over = new AbortController()
  const signal = query.signal ? AbortSignal.any([query.signal, over.signal]) : over.signal
  const url = urlOf(connection, query, { after, wait: String(longestWait) })
  const { host } = new URL(url)
  const headers = { Accept: 'text/event-stream, application/json' }
  const begun = performance.now()
  try {
    // The follower makes further attempts itself, because it reports each lost connection.
    const call = { method: 'GET', url, headers, repeatable: true, attempts: 1, streams: isStream, signal }
    const response = await connection.send(call)
    if (isStream(response) && response.body) {
      onOpen()
      yield* readStream(response.body, signal)
    } else if (hasType(response, 'application/json')) {
      const page = await answerOf<ChangePage>(isPage, response, host)
      onOpen()
      yield* readPage(page, performance.now() - begun, signal)
    } else throw unexpectedAnswer(response, host)
  } finally {
    over.abort()
  }
}

/** Returns the position at the end of the history. */
const findEnd = async (connection: Connection, { signal }: FollowQuery): Promise<string> => {
  const url = urlOf(connection, {}, { limit: '1' })
  const response = await connection.send({ method: 'GET', url, repeatable: true, signal })
  return (await answerOf<ChangePage>(isPage, response, hostOf(url))).next ?? ''
}

/**
 * Yields each change after a position once, as it happens, and does not end. Without `after`, yields only new changes.
 * When the connection breaks, continues after the last change. Errors: a `ServiceError` of a refusal, such as 401; the
 * reason of the signal.
 */
export async function* followChanges(connection: Connection, query: FollowQuery): AsyncGenerator<Change, void> {
  const host = hostOf(connection.site.url)
  let last = query.after
  let failures = 0
  const onOpen = () => {
    if (failures > 0) query.onConnection?.()
    failures = 0
  }
  for (;;) {
    query.signal?.throwIfAborted()
    let hasChanged = false
    let least = 0
    try {
      last ??= await findEnd(connection, query)
      for await (const { id, change } of followOnce(connection, query, last, onOpen)) {
        last = id
        if (!change) continue
        hasChanged = true
        yield change
      }
    } catch (error) {
      query.signal?.throwIfAborted()
      if (isFinal(error)) throw error
      failures++
      const failure = asServiceError(error, host)
      least = Math.min(longestRetryAfter, (failure.retryAfter ?? 0) * 1000)
      query.onConnection?.(failure)
    }
    const longest = Math.min(longestPause, shortestPause * 2 ** failures)
    if (!hasChanged || failures > 0) await pause(least + Math.random() * longest, query.signal)
  }
}
