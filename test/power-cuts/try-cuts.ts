import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { chooseCuts, type Cut } from './cuts.ts'
import { expectationAt, judge } from './judge.ts'
import { createRandom } from './random.ts'
import { readLog } from './record.ts'
import { createReplay, type Ignored } from './replay.ts'

export interface Recorded {
  readonly root: string
  readonly log: string
}

export interface Found {
  readonly cut: Cut
  readonly fault: string
}

interface Options {
  readonly count: number
  readonly seed: number
  readonly isIgnored?: Ignored
  /** Ends the search. */
  readonly mostFaults?: number
  /** Every so many states are served by a process of their own. */
  readonly apartEvery?: number
}

/** Cuts the power at positions that the seed chooses. Answers the faults in what is left. */
export const tryCuts = async (
  { root, log }: Recorded,
  scratch: string,
  { count, seed, isIgnored, mostFaults = 1, apartEvery = 50 }: Options,
): Promise<readonly Found[]> => {
  const entries = readLog(log)
  const replay = createReplay(entries, root, isIgnored)
  const found: Found[] = []
  for (const [number, cut] of chooseCuts(entries, count, createRandom(seed)).entries()) {
    replay.advance(cut.position)
    const target = join(scratch, `state-${number}`)
    replay.build(target, { ...cut, random: createRandom(cut.seed) })
    const place = number % apartEvery === apartEvery - 1 ? 'apart' : 'here'
    const fault = await judge(target, place, expectationAt(entries, cut.position))
    if (fault === undefined) rmSync(target, { recursive: true })
    else found.push({ cut, fault })
    if (found.length >= mostFaults) break
  }
  return found
}
