import type { Answer } from '../../support/answer.ts'
import type { Observed } from './linearizable.ts'
import type { ScheduledSite } from './scheduled-stores.ts'

export type State = ReadonlyMap<string, string>

export const write = (state: State): string => JSON.stringify([...state].sort())

export interface Operation {
  readonly label: string
  run(site: ScheduledSite): Promise<Answer>
  /** The state that a success leaves behind; undefined where it must be refused. */
  succeed(state: State, answer: Answer): State | undefined
  /** A newer version stays when the listed one is removed or moved: functions/storage/README.md, "Versions". */
  outlive?(state: State): State | undefined
  /** The entry of the history that a success leaves behind. */
  readonly entry?: string | undefined
  /** Where nothing was left to do, a success leaves none. */
  readonly mayLeaveNone?: boolean
}

interface Times extends Pick<Observed<State>, 'begin' | 'end'> {
  /** No other operation was under way. */
  readonly isAlone: boolean
}

/** What its answer says about the state. */
export const observe = (operation: Operation, answer: Answer, times: Times): Observed<State> => ({
  label: `${operation.label}: ${answer.status} ${answer.json?.code ?? (answer.text.length < 20 ? answer.text : '')}`,
  ...times,
  next(state) {
    const succeeded = operation.succeed(state, answer)
    if (answer.status < 300) return [succeeded ?? operation.outlive?.(state) ?? []].flat()
    if (answer.status === 503) return succeeded ? [state, succeeded] : [state]
    // At most one of two that take the same name succeeds. Both may see each other, and give way.
    const mayGiveWay = !times.isAlone && [104009, 104010, 104019, 104022].includes(answer.json?.code)
    return succeeded && !mayGiveWay ? [] : [state]
  },
})
