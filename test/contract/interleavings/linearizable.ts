/** One call as its caller saw it: the moments of request and answer, and the states that the answer allows. */
export interface Observed<State> {
  readonly label: string
  readonly begin: number
  readonly end: number
  /** Every state that this call may cause from this state. Empty if the answer is impossible in this state. */
  readonly next: (state: State) => readonly State[]
}

interface Search<State> {
  readonly calls: readonly Observed<State>[]
  readonly seen: Set<string>
  readonly write: (state: State) => string
}

const canFinish = <State>(search: Search<State>, state: State, done: bigint): boolean => {
  const { calls, seen, write } = search
  const left = calls.filter((_, index) => !(done & (1n << BigInt(index))))
  if (left.length === 0) return true
  const place = `${done} ${write(state)}`
  if (seen.has(place)) return false
  seen.add(place)
  const firstEnd = Math.min(...left.map(({ end }) => end))
  return left
    .filter(({ begin }) => begin <= firstEnd)
    .some((call) => {
      const after = done | (1n << BigInt(calls.indexOf(call)))
      return call.next(state).some((next) => canFinish(search, next, after))
    })
}

/**
 * True if some order of the calls explains all answers. A call that ended before another began must come first (Herlihy
 * and Wing 1990). The search is that of Wing and Gong 1993, with the remembered states of Lowe 2017.
 */
export const isLinearizable = <State>(
  calls: readonly Observed<State>[],
  first: State,
  write: (state: State) => string,
): boolean => canFinish({ calls, seen: new Set(), write }, first, 0n)
