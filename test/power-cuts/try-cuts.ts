import { join } from 'node:path'
import { removeDirectory } from '../support/directory.ts'
import { type Cut, chooseCuts } from './cuts.ts'
import { expectationAt, judge, type Place } from './judge.ts'
import { createRandom } from './outage.ts'
import { type Entry, type Recording, readLog } from './record.ts'
import { createReplay, type Ignored, type Replay } from './replay.ts'

type Recorded = Pick<Recording, 'root' | 'log'>

interface Found {
  readonly cut: Cut
  readonly fault: string
}

interface Options {
  readonly count: number
  readonly seed: number
  readonly isIgnored?: Ignored
}

/** Of `npm run prove`, or always the same. */
export const provedSeed = Number(process.env['PROVE_SEED'] ?? 20_261_125)

/** Every so many states are served by a process of their own. */
const apartEvery = 50

const tryNext = async (
  entries: readonly Entry[],
  replay: Replay,
  cut: Cut,
  target: string,
  place: Place,
): Promise<string | undefined> => {
  replay.advance(cut.position)
  replay.build(target, { ...cut, random: createRandom(cut.seed) })
  const fault = await judge(target, place, expectationAt(entries, cut.position))
  removeDirectory(target)
  return fault
}

/** Cuts the power at positions that the seed chooses. Answers the first fault in what is left. */
export const tryCuts = async (
  { root, log }: Recorded,
  scratch: string,
  { count, seed, isIgnored }: Options,
): Promise<Found | undefined> => {
  const entries = readLog(log)
  const replay = createReplay(entries, root, isIgnored)
  for (const [number, cut] of chooseCuts(entries, count, createRandom(seed)).entries()) {
    const place = number % apartEvery === apartEvery - 1 ? 'apart' : 'here'
    const fault = await tryNext(entries, replay, cut, join(scratch, 'state'), place)
    if (fault !== undefined) return { cut, fault }
  }
  return undefined
}

export const tryCut = async ({ root, log }: Recorded, cut: Cut, target: string): Promise<string | undefined> => {
  const entries = readLog(log)
  return tryNext(entries, createReplay(entries, root), cut, target, 'apart')
}
