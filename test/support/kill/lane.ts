import type { Machine } from '../../../lib/machine/machine.ts'

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
