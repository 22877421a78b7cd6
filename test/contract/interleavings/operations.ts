import type { Answer } from '../../support/answer.ts'
import type { Observed } from './linearizable.ts'
import type { ScheduledSite } from './scheduled-stores.ts'

export type State = ReadonlyMap<string, string>

export const write = (state: State): string => JSON.stringify([...state].sort())

export interface Operation {
  readonly label: string
  run(site: ScheduledSite): Promise<Answer>
  /** The state after a success. Undefined if the operation must be refused. */
  succeed(state: State, answer: Answer): State | undefined
  /**
   * A further state that a success may cause while other operations run. A newer version stays when the listed version
   * is removed or moved (functions/storage/README.md, "Versions"). A folder is created before its file is stored.
   */
  inRace?(state: State): State | undefined
  /** The history entry of a success. */
  readonly entry?: string | undefined
  /** A success that changes nothing has no entry. */
  readonly mayHaveNoEntry?: boolean
}

interface Times extends Pick<Observed<State>, 'begin' | 'end'> {
  /** True if no other operation was running. */
  readonly isAlone: boolean
}

/** The possible states after the answer. */
export const observe = (operation: Operation, answer: Answer, times: Times): Observed<State> => ({
  label: `${operation.label}: ${answer.status} ${answer.json?.code ?? (answer.text.length < 20 ? answer.text : '')}`,
  ...times,
  next(state) {
    const succeeded = operation.succeed(state, answer)
    if (answer.status < 300) {
      const raced = times.isAlone ? undefined : operation.inRace?.(state)
      return [succeeded, raced].filter((after) => after !== undefined)
    }
    if (answer.status === 503) return succeeded ? [state, succeeded] : [state]
    // At most one of two operations on the same name succeeds. Both may detect each other and fail.
    const mayGiveWay = !times.isAlone && [104009, 104010, 104019, 104022].includes(answer.json?.code)
    return succeeded && !mayGiveWay ? [] : [state]
  },
})
