/** Mulberry32: a random sequence that the same seed repeats. */
export const createRandom = (seed: number) => {
  let state = seed >>> 0
  const below = (end: number): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end)
  }
  const pick = <Value>(values: readonly Value[]): Value => {
    const value = values[below(values.length)]
    if (value === undefined) throw new Error('There is no value to pick from')
    return value
  }
  return { below, pick }
}

export type Random = ReturnType<typeof createRandom>

/** How a power cut treats unflushed names: each independently, or in order up to some position. */
export const modes = ['strict', 'journalled'] as const

/** The unflushed pieces that survive: all, none, or a random choice. */
export const fates = ['lost', 'kept', 'mixed'] as const

export interface Outage {
  readonly mode: (typeof modes)[number]
  readonly fate: (typeof fates)[number]
  readonly random: Random
}
