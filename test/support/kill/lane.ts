import type { Machine } from '../../../lib/machine/machine.ts'
import type { SpawnedService } from '../spawned-service.ts'

export interface Step<State> {
  readonly name: string
  readonly path: string
  readonly init: RequestInit
  readonly after: State
}

/** Successive changes of contents that no other lane changes. So the answers determine the state of the contents. */
export interface Lane<State> {
  readonly name: string
  readonly start: State
  next(state: State, count: number): Step<State>
  /** The state that a directory contains. Throws an Error if the state is inconsistent. */
  observe(machine: Machine): Promise<State>
}

export interface Runner {
  readonly name: string
  /** Sends changes until the service has ended, and calls `acknowledged` after each answer. Rejects after a refusal. */
  run(service: SpawnedService, acknowledged: () => void): Promise<void>
  compare(
    machine: Machine,
  ): Promise<{ readonly allowed: readonly unknown[]; readonly found: unknown; readonly step: string }>
}

const send = async (service: SpawnedService, { path, init }: Step<unknown>): Promise<number | undefined> => {
  try {
    return (await service.request(path, init)).status
  } catch {
    return undefined
  }
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

export const runnerOf = <State>(lane: Lane<State>): Runner => {
  let state = lane.start
  let underWay: Step<State> | undefined
  let count = 0

  return {
    name: lane.name,

    async run(service, acknowledged) {
      for (;;) {
        count += 1
        underWay = lane.next(state, count)
        const status = await send(service, underWay)
        if (status === undefined) return
        if (status >= 300) throw new Error(`${lane.name}: ${underWay.name} was answered with ${status}`)
        state = underWay.after
        underWay = undefined
        acknowledged()
      }
    },

    async compare(machine) {
      const found = await lane.observe(machine)
      const step = underWay?.name ?? 'nothing'
      const allowed = underWay ? [state, underWay.after] : [state]
      // The next round starts from the state in the directory.
      if (underWay && same(found, underWay.after)) state = underWay.after
      underWay = undefined
      return { allowed, found, step }
    },
  }
}
