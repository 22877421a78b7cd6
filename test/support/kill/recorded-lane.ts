import type { SiteId } from '../../../lib/core/ids.ts'
import type { Change } from '../../../lib/history/history.ts'
import type { Lane } from './lane.ts'

const site = 1001 as SiteId

/** The state of a lane, and the number of its entries in the history. */
interface Recorded<State> {
  readonly state: State
  readonly entries: number
}

/** A lane whose changes each write one history entry. A lost change writes no entry. */
export const recordedLane = <State>(lane: Lane<State>, isOwn: (change: Change) => boolean): Lane<Recorded<State>> => ({
  name: lane.name,
  start: { state: lane.start, entries: 0 },
  next({ state, entries }, count) {
    const { after, ...step } = lane.next(state, count)
    return { ...step, after: { state: after, entries: entries + 1 } }
  },
  async observe(machine) {
    const changes = await machine.stores.history.after(site, 0, Number.MAX_SAFE_INTEGER)
    return { state: await lane.observe(machine), entries: changes.filter(isOwn).length }
  },
})
