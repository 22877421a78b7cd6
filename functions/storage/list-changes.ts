import { Readable } from 'node:stream'
import { hasOwnRights, type SiteCaller } from '../../lib/access/grants.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import type { changePage } from '../../lib/contract/storage/contract-history.ts'
import { ServiceError, tooManyRequests } from '../../lib/core/errors.ts'
import { type Change, idOfChange, positionIn, viewOfChange } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { reserves } from '../../lib/core/time.ts'
import { type ChangeFilter, type ChangePage, changesAfter, changesBefore } from '../../lib/history/history.ts'
import { type Listener, nextChanges, readNews } from '../../lib/history/live-changes.ts'
import { readmit } from '../../lib/http/admitted-caller.ts'
import { type OperationInput, readSwitches } from '../../lib/http/operation.ts'
import { ok, type Reply } from '../../lib/http/reply.ts'
import { namesType } from '../../lib/http/representation.ts'
import type { Switches } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import { operation, schemaOf, usualLimit } from './params.ts'

type Wanted = Omit<Parameters<typeof readNews>[1], 'limit' | 'bytes'>

// V-19, in milliseconds.
const heartbeat = 15_000

// An id without data is not an event, but the caller can continue from this id.
const placeOf = (site: SiteId, position: number, comment = '') => `id: ${idOfChange({ site, position })}\n${comment}\n`

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
  let isBeatDue = false
  let isEnded = false

  const beatNow = (): Buffer => Buffer.from(placeOf(wanted.site, position, ':\n'))

  const give = (bytes: Buffer | null): void => {
    isAsked = false
    isBeatDue = false
    isEnded = bytes === null
    stream.push(bytes)
  }

  const take = ({ changes, next }: Awaited<ReturnType<typeof readNews>>): void => {
    isReading = false
    position = next
    const bytes = eventsOf(changes) ?? (isBeatDue ? beatNow() : undefined)
    if (bytes) give(bytes)
    else advance()
  }

  const fail = (error: Error): void => {
    if (error instanceof ServiceError) give(null)
    else stream.destroy(error)
  }

  function advance(): void {
    // While changes are being read, nothing else may be sent: the reading may end the stream.
    if (isReading || isEnded) return
    if (listener.isOver() || timeLeft() <= 0) {
      give(beatNow())
      give(null)
    }
    if (!isAsked || (!isBeatDue && listener.newest() <= position)) return
    isReading = true
    const news = readNews(listener, query, position)
    if (news instanceof Promise) news.then(take).catch(fail)
    else take(news)
  }

  const beat = (): void => {
    if (timeLeft() > 0) timer = setTimeout(beat, Math.min(heartbeat, timeLeft()))
    isBeatDue = true
    advance()
  }

  const leave = listener.watch(advance)
  let timer = setTimeout(beat, Math.min(heartbeat, timeLeft()))
  const stream: Readable = new Readable({
    highWaterMark: 1,
    read() {
      isAsked = true
      advance()
    },
    destroy(error, done) {
      leave()
      clearTimeout(timer)
      listener[Symbol.dispose]()
      done(error)
    },
  })
  stream.push(placeOf(wanted.site, after))
  return stream
}

const ends = { after: 'oldest', before: 'newest' } as const

// Undefined for an empty text, which means the beginning or the end of the history.
const positionOf = (name: keyof typeof ends, id: string, site: SiteId): number | undefined => {
  if (id === '') return undefined
  const position = positionIn(id, site)
  if (position !== undefined) return position
  throw storageRefused(
    `"${name}" is not the id of a change of this site. Send such an id, or leave "${name}" empty to begin ` +
      `with the ${ends[name]} change.`,
  )
}

const switchesOf = async (query: Switches) => ({
  ...(await readSwitches(query, ['limit', 'wait', 'type', 'subject'], schemaOf('changesQuery'))),
  after: query.get('after'),
  before: query.get('before'),
})

type Input = OperationInput<unknown, Awaited<ReturnType<typeof switchesOf>>>

const filterOf = ({ type, subject }: Input['query'], caller: SiteCaller): ChangeFilter => ({
  types: type,
  subject,
  rights: caller.rights,
  withTokens: !hasOwnRights(caller),
})

// In milliseconds: the service checks the caller again only after this time, and not before each change of a burst.
const checkInterval = 1_000

const wantedBy = ({ edge, clock }: StorageDeps, { site, query, admission }: Input) => {
  let known: ChangeFilter | undefined
  let checked = 0
  const check = async (): Promise<ChangeFilter> => {
    checked = clock.monotonic()
    known = filterOf(query, await readmit(edge, admission))
    return known
  }
  const filter = () => (known && clock.monotonic() < checked + checkInterval ? known : check())
  return { site: site.id, filter, now: clock.monotonic }
}

/** V-18, V-24: a stream of the changes after a position, or of new changes. */
const openStream = async (deps: StorageDeps, input: Input): Promise<Reply> => {
  const { site, query, headers, deadline } = input
  const from = headers['last-event-id'] || query.after
  const after = from === undefined ? undefined : (positionOf('after', from, site.id) ?? 0)
  if (!headers['authorization']) {
    throw new ServiceError('tokenRejected', {
      message:
        'Live changes accept the token only in the header Authorization. Send the token there, not in the address.',
    })
  }
  const listener = await deps.live.listen(site.id)
  if (!listener) throw tooManyRequests('Too many callers listen to this site.', 10)
  const bytes = streamOf(listener, wantedBy(deps, input), after ?? listener.newest(), deadline.timeLeft)
  return {
    status: 200,
    // Without the last header, nginx would collect the events.
    headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no', Vary: 'Accept' },
    content: { type: 'text/event-stream', bytes },
  }
}

// V-20, V-23: waits for a change after an empty page. If too many requests wait already, returns this page.
const awaitChanges = async (deps: StorageDeps, input: Input, after: number, page: ChangePage): Promise<ChangePage> => {
  const { site, query, deadline } = input
  const { wait = 0, limit = usualLimit } = query
  using listener = await deps.live.listen(site.id)
  const time = Math.min(wait * 1000, deadline.reserving(reserves.answer).timeLeft())
  if (!listener) return page
  const { changes, next } = await nextChanges(listener, { ...wantedBy(deps, input), limit }, page.next ?? after, time)
  return { changes, next: next === after ? undefined : next }
}

const readPage = async (deps: StorageDeps, input: Input): Promise<ChangePage> => {
  const { site, caller, query } = input
  const { after, before, limit = usualLimit, wait } = query
  const filter = filterOf(query, caller)
  if (before !== undefined) {
    const from = positionOf('before', before, site.id)
    return changesBefore(deps.history, site.id, { limit, filter, before: from })
  }
  if (after === undefined) {
    const { changes, end } = await changesBefore(deps.history, site.id, { limit, filter })
    return { changes: changes.toReversed(), next: end }
  }
  const position = positionOf('after', after, site.id) ?? 0
  const page = await changesAfter(deps.history, site.id, position, limit, filter)
  return page.changes.length > 0 || wait === undefined ? page : awaitChanges(deps, input, position, page)
}

export const listChanges = operation({ query: switchesOf }, async (input, deps) => {
  const { site, headers, query } = input
  if (query.after !== undefined && query.before !== undefined) {
    throw storageRefused('"after" and "before" exclude each other. Send only one of them.')
  }
  // Callers that accept any text expect an answer that ends.
  const isStream = query.before === undefined && namesType({ headers }, 'text/event-stream', { orKind: false })
  if (deps.canStream && isStream) return openStream(deps, input)
  const page = await readPage(deps, input)
  const next = page.next === undefined ? null : idOfChange({ site: site.id, position: page.next })
  const varied = deps.canStream ? { Vary: 'Accept' } : {}
  return ok<Answer<typeof changePage>>({ items: page.changes.map(viewOfChange), next }, { headers: varied })
})
