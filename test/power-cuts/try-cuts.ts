import { join } from 'node:path'
import { removeDirectory } from '../support/directory.ts'
import { type Cut, chooseCuts } from './cuts.ts'
import { expectationAt, judge } from './judge.ts'
import { createRandom } from './outage.ts'
import { type Recording, readLog } from './record.ts'
import { createReplay, type Ignored } from './replay.ts'

interface Options {
  /** Chosen by the seed; or one cut, once more. */
  readonly cuts: { readonly count: number; readonly seed: number } | Cut
  readonly isIgnored?: Ignored
}

/** Seed of `npm run prove`; otherwise always the same. */
export const provedSeed = Number(process.env['PROVE_SEED'] ?? 20_261_125)

/** One state in so many is served by a process of its own. */
const apartEvery = 50

/** Cuts the power at each position. Answers the first fault in a state that this may leave. */
export const tryCuts = async (
  { root, log }: Pick<Recording, 'root' | 'log'>,
  scratch: string,
  { cuts, isIgnored }: Options,
): Promise<{ readonly cut: Cut; readonly fault: string } | undefined> => {
  const entries = readLog(log)
  const replay = createReplay(entries, root, isIgnored)
  const target = join(scratch, 'state')
  const chosen = 'count' in cuts ? chooseCuts(entries, cuts.count, createRandom(cuts.seed)) : [cuts]
  for (const [number, cut] of chosen.entries()) {
    replay.advance(cut.position)
    replay.build(target, { ...cut, random: createRandom(cut.seed) })
    const isApart = number % apartEvery === 0
    const fault = await judge(target, expectationAt(entries, cut.position), isApart)
    removeDirectory(target)
    if (fault !== undefined) return { cut, fault }
  }
  return undefined
}
