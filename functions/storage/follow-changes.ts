import { Readable } from 'node:stream'
import { ServiceError } from '../../lib/core/errors.ts'
import { type Change, idOfChange, viewOfChange } from '../../lib/core/history-entry.ts'
import { type Listener, readNews } from '../../lib/history/live-changes.ts'
import type { Reply } from '../../lib/http/reply.ts'

type Wanted = Omit<Parameters<typeof readNews>[1], 'limit' | 'bytes'>
type News = Awaited<ReturnType<typeof readNews>>

// V-19, in milliseconds.
const heartbeat = 15_000

const comment = Buffer.from(':\n\n')

// Limits the memory for one slow reader to about this much (V-24).
const [mostAtOnce, mostBytes] = [100, 16 * 1024]

const events = new WeakMap<Change, Buffer>()

// The listeners of a site share the bytes of its newest changes.
const eventOf = (change: Change): Buffer => {
  const known = events.get(change)
  if (known) return known
  const view = viewOfChange(change)
  const event = Buffer.from(`id: ${view.id}\ndata: ${JSON.stringify(view)}\n\n`)
  events.set(change, event)
  return event
}

const eventsOf = ([first, ...others]: readonly Change[]): Buffer | undefined =>
  first && (others.length > 0 ? Buffer.concat([first, ...others].map(eventOf)) : eventOf(first))

// Makes the next events only when the reader has taken the previous ones. Ends when the caller may no longer listen.
// The next request of the caller then gets the reason (V-21). While it waits, a listener has no pending promise,
// because the garbage collector frees promises late: 1,000 listeners would need 110 MiB after 50 changes.
const streamOf = (listener: Listener, wanted: Wanted, after: number, timeLeft: () => number): Readable => {
  const query = { ...wanted, limit: mostAtOnce, bytes: mostBytes }
  let position = after
  let isAsked = false
  let isReading = false

  const give = (bytes: Buffer | null): void => {
    isAsked = false
    stream.push(bytes)
  }

  const take = ({ changes, next }: News, isBeat: boolean): void => {
    isReading = false
    position = next
    const bytes = eventsOf(changes) ?? (isBeat ? comment : undefined)
    if (bytes) give(bytes)
    else advance(false)
  }

  const fail = (error: Error): void => {
    if (error instanceof ServiceError) give(null)
    else stream.destroy(error)
  }

  function advance(isBeat: boolean): void {
    // While changes are being read, nothing else may be sent: the reading may end the stream.
    if (isReading) return
    if (listener.isOver() || timeLeft() <= 0) give(null)
    if (!isAsked || (!isBeat && listener.newest() <= position)) return
    isReading = true
    const news = readNews(listener, query, position)
    if (news instanceof Promise) news.then((found) => take(found, isBeat)).catch(fail)
    else take(news, isBeat)
  }

  const beat = (): void => {
    advance(true)
    if (timeLeft() > 0) timer = setTimeout(beat, Math.min(heartbeat, timeLeft()))
  }

  const leave = listener.watch(() => advance(false))
  let timer = setTimeout(beat, Math.min(heartbeat, timeLeft()))
  const stream: Readable = new Readable({
    highWaterMark: 1,
    read() {
      isAsked = true
      advance(false)
    },
    destroy(error, done) {
      leave()
      clearTimeout(timer)
      listener[Symbol.dispose]()
      done(error)
    },
  })
  // An id without data is not an event, but the caller can continue from this id.
  stream.push(`id: ${idOfChange({ site: wanted.site, position: after })}\n\n`)
  return stream
}

/** V-18: a stream of the changes after a position, or of new changes. */
export const followChanges = (
  listener: Listener,
  wanted: Wanted,
  after: number | undefined,
  timeLeft: () => number,
): Reply => ({
  status: 200,
  // Without the last header, nginx would collect the events.
  headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no', Vary: 'Accept' },
  content: { type: 'text/event-stream', bytes: streamOf(listener, wanted, after ?? listener.newest(), timeLeft) },
})
