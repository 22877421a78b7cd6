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
  /** The states after the first step of an operation with two steps. Other operations may run between the steps. */
  begin?(state: State): readonly (State | undefined)[]
  /** The files that a refused change may show for a while, even beside a file or folder that refuses it. */
  attempt?(state: State): State
  /** Further states that a success may cause beside other callers. They may already have made the change. */
  inRace?(state: State, answer: Answer): State | undefined | readonly (State | undefined)[]
  /** Further states that a refusal may cause, because another caller may complete the change. */
  inRefusal?(state: State): readonly State[]
  /** Further states that a success may cause. */
  mayAlsoCause?(state: State): readonly (State | undefined)[]
  /** The history entry of a success. */
  readonly entry?: string | undefined
  /** A success that changes nothing has no entry. */
  readonly mayHaveNoEntry?: boolean
  /** Default: 1. */
  readonly mostEntries?: number
}

/** A read must answer with this content. If it answers with 404 instead, the content is lost. */
export const isShownBy = ({ status, text }: Answer, content: string | undefined): boolean =>
  content !== undefined && (status === 404 || text === content)

interface Times extends Pick<Observed<State>, 'begin' | 'end'> {
  /** True if no other operation was running. */
  readonly isAlone: boolean
}

type Step = readonly [key: string, before: string | null, after: string | null]

const changesIn = (before: State, after: State): readonly Step[] =>
  [...new Set([...before.keys(), ...after.keys()])]
    .map((key): Step => [key, before.get(key) ?? null, after.get(key) ?? null])
    .filter(([, old, now]) => old !== now)

export const lastRemoval = (path: string): string => `last removal of ${path}`
export const isRemoval = (key: string): boolean => key.startsWith(lastRemoval(''))

/** Undoes one step, also below the steps of other callers that are not complete, and in the records of removals. */
const undo = (state: State, [key, before, made]: Step): State => {
  if ((state.get(key) ?? null) === made) {
    const others = [...state].filter(([one]) => one !== key)
    return new Map(before === null ? others : [...others, [key, before]])
  }
  const below = ([one, old, now]: Step): Step => [one, one === key && old === made ? before : old, now]
  const isKept = ([one, content]: readonly string[]) => one !== key || content !== made
  return new Map(
    [...state].map(([one, text]) => {
      if (isBegun(one)) return [one, JSON.stringify(JSON.parse(text).map(below))]
      return [one, isRemoval(one) ? JSON.stringify(JSON.parse(text).filter(isKept)) : text]
    }),
  )
}

const isBegun = (key: string): boolean => key.startsWith('began ')

type Next = Observed<State>['next']

const some = (...states: readonly (State | undefined)[]) => states.filter((state) => state !== undefined)

/** Two steps, one after the other. The second gets the changes of the first. */
const inTwoSteps = (name: string, first: Next, second: (state: State, made: readonly Step[]) => readonly State[]) => [
  (state: State) => first(state).map((after) => new Map([...after, [name, JSON.stringify(changesIn(state, after))]])),
  (state: State) => {
    const made = state.get(name)
    return made === undefined ? [] : second(new Map([...state].filter(([key]) => key !== name)), JSON.parse(made))
  },
]

/** At most one of two operations on the same name succeeds. Both may detect each other and fail. */
const mayGiveWay = ({ attempt }: Operation, { json }: Answer): boolean =>
  [104009, 104010, 104019, 104022, ...(attempt ? [104001] : [])].includes(json?.code)

const stepsOf = (operation: Operation, answer: Answer, { begin, isAlone }: Times): readonly Next[] => {
  const { status, json } = answer
  const name = `began ${begin}`
  const succeed = (state: State) => operation.succeed(state, answer)
  const allAfter = (state: State) => some(succeed(state), ...(operation.mayAlsoCause?.(state) ?? []))
  if (status < 300) {
    if (isAlone) return [allAfter]
    const last: Next = (state) => some(...allAfter(state), ...[operation.inRace?.(state, answer)].flat())
    const begin = (state: State) => operation.begin?.(state) ?? []
    return operation.begin ? inTwoSteps(name, (state) => some(state, ...begin(state)), last) : [last]
  }
  // If two owners leave at the same moment, both may be refused.
  if (json?.code === 101012 && !isAlone) return [(state) => [state]]
  const isUnknown = status === 503
  if (!isUnknown && (isAlone || !mayGiveWay(operation, answer)))
    return [(state) => [...(succeed(state) ? [] : [state]), ...((!isAlone && operation.inRefusal?.(state)) || [])]]
  // The change may be visible for a while before it is undone.
  return inTwoSteps(
    name,
    (state) => some(state, ...allAfter(state), isUnknown ? undefined : operation.attempt?.(state)),
    (state, made) => (isUnknown ? [made.reduce(undo, state), state] : [made.reduce(undo, state)]),
  )
}

/** The steps of an operation, each with the states that the answer allows. */
export const observe = (operation: Operation, answer: Answer, times: Times): readonly Observed<State>[] => {
  const { status, text, json } = answer
  const label = `${operation.label}: ${status} ${json?.code ?? (text.length < 20 ? text : '')}`
  return stepsOf(operation, answer, times).map((next) => ({ label, ...times, next }))
}
