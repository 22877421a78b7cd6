import { isDeepStrictEqual } from 'node:util'
import type { Change } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import type { Machine } from '../../lib/machine/machine.ts'
import type { SpawnedService } from '../support/spawned-service.ts'
import { createRandom } from './outage.ts'
import type { Recording } from './record.ts'

export const site = 1001 as SiteId

export type Service = Pick<SpawnedService, 'request'>

export interface Judged extends Service {
  readonly root: string
  readonly machine: Machine
}

/** Each recording has other changes. */
export const random = createRandom(Math.random() * 2 ** 32)

/** The state that the service has acknowledged, and the state if the last change was made, too. */
export interface Expected<State> {
  readonly acknowledged: State
  readonly underWay?: State | undefined
}

export interface Step<State> {
  readonly after: State
  /** Returns the state after the change. Rejects if the change is refused, or if the service has ended. */
  send(service: Service, recording: Recording): Promise<State>
}

/** Consecutive changes of contents that no other lane changes. */
export interface Lane<State> {
  readonly start: State
  next(state: State, count: number): Step<State>
  faultIn(judged: Judged, expected: Expected<State>): Promise<string | undefined>
}

export class Refusal extends Error {}

export const expectStatus = async (answer: Promise<Response>, what: string): Promise<Response> => {
  const response = await answer
  if (response.ok) return response
  throw new Refusal(`${what} was answered with ${response.status}: ${await response.text()}`)
}

export const stepOf = <State>(
  name: string,
  after: State,
  ask: (service: Service) => Promise<Response>,
): Step<State> => ({
  after,
  async send(service) {
    await expectStatus(ask(service), name)
    return after
  },
})

/** The found state must equal one of the two expected states, or one of the states between them. */
export const findDifference = <State>(
  { acknowledged, underWay }: Expected<State>,
  found: State,
  between: readonly State[] = [],
): string | undefined => {
  if ([acknowledged, underWay, ...between].some((each) => isDeepStrictEqual(each, found))) return undefined
  return [{ acknowledged }, { underWay }, { found }].map((each) => JSON.stringify(each)).join('\n')
}

export const changesIn = ({ machine }: Judged): Promise<readonly Change[]> =>
  machine.stores.history.after(site, 0, Number.MAX_SAFE_INTEGER)

interface Observed<State> extends Pick<Lane<State>, 'start' | 'next'> {
  observe(judged: Judged): Promise<State>
}

export const observedLane = <State>({ observe, ...lane }: Observed<State>): Lane<State> => ({
  ...lane,
  faultIn: async (judged, expected) => findDifference(expected, await observe(judged)),
})

/** A lane whose changes each write one history entry. A lost change writes no entry. */
export const recordedLane = <State>(
  { start, next, observe }: Observed<State>,
  isOwn: (change: Change) => boolean,
): Lane<{ readonly state: State; readonly entries: number }> =>
  observedLane({
    start: { state: start, entries: 0 },
    next({ state, entries }, count) {
      const { after, send } = next(state, count)
      const withEntry = (state: State) => ({ state, entries: entries + 1 })
      return { after: withEntry(after), send: async (...given) => withEntry(await send(...given)) }
    },
    async observe(judged) {
      const entries = (await changesIn(judged)).filter(isOwn).length
      return { state: await observe(judged), entries }
    },
  })

/** Content that repeats its mark every twelve bytes. */
export const fill = (mark: string, size: number): Buffer => Buffer.alloc(size, mark.padEnd(12, '.'))

/** Mark and size of a file that is filled with one mark. */
export const digestOf = (content: Buffer): string => {
  const mark = content.toString('latin1', 0, 12)
  return content.equals(fill(mark, content.length))
    ? `${mark} x ${content.length}`
    : `a mixture that begins with ${mark}`
}

export const readDigest = async ({ request }: Service, path: string): Promise<string> => {
  const response = await request(path)
  return response.ok ? digestOf(Buffer.from(await response.arrayBuffer())) : `status ${response.status}`
}
