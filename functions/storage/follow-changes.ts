import { Readable } from 'node:stream'
import { ServiceError } from '../../lib/core/errors.ts'
import type { Change } from '../../lib/history/history.ts'
import { idOfChange, viewOfChange } from '../../lib/history/list-changes.ts'
import { type Listener, nextChanges } from '../../lib/history/live-changes.ts'
import type { Reply } from '../../lib/http/reply.ts'

type Wanted = Omit<Parameters<typeof nextChanges>[1], 'limit' | 'bytes'>

// V-19, in milliseconds.
const heartbeat = 15_000

// About this much waits in memory for a slow reader (V-24).
const [mostAtOnce, mostBytes] = [100, 16 * 1024]

const texts = new WeakMap<Change, string>()

// The listeners of a site share the texts of its newest changes.
const textOf = (change: Change): string => {
  const known = texts.get(change)
  if (known !== undefined) return known
  const view = viewOfChange(change)
  const text = `id: ${view.id}\ndata: ${JSON.stringify(view)}\n\n`
  texts.set(change, text)
  return text
}

// Ends when the caller may no longer listen. The next request of the caller gets the reason (V-21).
async function* writeEvents(
  listener: Listener,
  wanted: Wanted,
  after: number,
  timeLeft: () => number,
): AsyncGenerator<string, void> {
  // An id without data is not an event, but the caller can continue from this id.
  yield `id: ${idOfChange({ site: wanted.site, position: after })}\n\n`
  const query = { ...wanted, limit: mostAtOnce, bytes: mostBytes }
  try {
    for (let position = after; !listener.isOver() && timeLeft() > 0; ) {
      const { changes, next } = await nextChanges(listener, query, position, Math.min(heartbeat, timeLeft()))
      position = next
      yield changes.map(textOf).join('') || ':\n\n'
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
  }
}

// Asks for the next text only when the reader has taken the last one. The listener ends with the stream.
const streamOf = (events: AsyncIterator<string>, listener: Listener): Readable => {
  const stream: Readable = new Readable({
    highWaterMark: 1,
    read() {
      events.next().then(
        ({ value, done }) => stream.destroyed || stream.push(done ? null : value),
        (error) => stream.destroy(error),
      )
    },
    destroy(error, done) {
      listener[Symbol.dispose]()
      done(error)
    },
  })
  return stream
}

/** V-18: a stream of the changes after a position, or of new changes. */
export const followChanges = (
  listener: Listener,
  wanted: Wanted,
  after: number | undefined,
  timeLeft: () => number,
): Reply => {
  const events = writeEvents(listener, wanted, after ?? listener.newest(), timeLeft)
  return {
    status: 200,
    // Without the last header, nginx would collect the events.
    headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no', Vary: 'Accept' },
    content: { type: 'text/event-stream', bytes: streamOf(events, listener) },
  }
}
