import { hasOwnRights, type SiteCaller } from '../../lib/access/grants.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import type { changePage } from '../../lib/contract/storage/contract-changes.ts'
import { ServiceError, tooManyRequests } from '../../lib/core/errors.ts'
import { idOfChange, positionIn, viewOfChange } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { reserves } from '../../lib/core/time.ts'
import { type ChangeFilter, type ChangePage, changesAfter, changesBefore } from '../../lib/history/history.ts'
import { nextChanges } from '../../lib/history/live-changes.ts'
import { namesType } from '../../lib/http/negotiate.ts'
import { type OperationInput, readSwitches } from '../../lib/http/operation.ts'
import { ok, type Reply } from '../../lib/http/reply.ts'
import type { Switches } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import { followChanges } from './follow-changes.ts'
import { operation, schemaOf } from './params.ts'

const usualLimit = 100

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

const wantedBy = ({ clock }: StorageDeps, { site, query, readmit }: Input) => {
  let known: ChangeFilter | undefined
  let checked = 0
  const check = async (): Promise<ChangeFilter> => {
    checked = clock.monotonic()
    known = filterOf(query, await readmit())
    return known
  }
  const filter = () => (known && clock.monotonic() < checked + checkInterval ? known : check())
  return { site: site.id, filter, now: clock.monotonic }
}

// V-18, V-24. The errors include tokenRejected and tooManyRequests.
const openStream = async (deps: StorageDeps, input: Input): Promise<Reply> => {
  const { site, query, headers, deadline } = input
  const from = headers['last-event-id'] ?? query.after
  const after = from === undefined ? undefined : (positionOf('after', from, site.id) ?? 0)
  if (!headers['authorization']) {
    throw new ServiceError('tokenRejected', {
      message:
        'Live changes accept the token only in the header Authorization. Send the token there, not in the address.',
    })
  }
  const listener = await deps.live.listen(site.id)
  if (!listener) throw tooManyRequests('Too many callers listen to this site.', 10)
  return followChanges(listener, wantedBy(deps, input), after, deadline.timeLeft)
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
