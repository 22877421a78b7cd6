import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { removeDirectory } from '../support/directory.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { expectationAt, judge } from './judge.ts'
import { createRandom, fates, modes, type Outage, type Random } from './outage.ts'
import { type Entry, markOf, type Recording, readLog } from './record.ts'
import { createReplay, type Ignored, isAboutNames } from './replay.ts'

/** The position of the power cut in the log, and its effect. The seed decides both. */
interface Cut extends Omit<Outage, 'random'> {
  readonly position: number
  readonly seed: number
}

const positionsWhere = (entries: readonly Entry[], isIt: (entry: Entry) => boolean): number[] =>
  entries.flatMap((entry, index) => (isIt(entry) ? [index + 1] : []))

/** Positions while the service starts, and while it stops. */
const aroundStarts = (entries: readonly Entry[]): number[] => {
  let isBetween = false
  return positionsWhere(entries, (entry) => {
    const mark = markOf(entry)
    if (mark && 'event' in mark) isBetween = mark.event === 'starting' || mark.event === 'stopping'
    return isBetween
  })
}

/** Positions between the bytes of a blob and the next commit, which may store an offset or the row of a file. */
const afterBytes = (entries: readonly Entry[]): number[] => {
  // If two files have the same inode one after the other, the path of the later file is used.
  const paths = new Map(entries.filter(({ kind }) => kind === 'o').map(({ file, bytes }) => [file, bytes.toString()]))
  let isBetween = false
  return positionsWhere(entries, ({ kind, file }) => {
    const path = paths.get(file) ?? ''
    if (kind === 'w' && path.includes('/blobs/')) isBetween = true
    else if (kind === 'f' && path.endsWith('-wal')) isBetween = false
    return isBetween
  })
}

/** Random positions in the log, in ascending order. More of them are at places where a fault is likely. */
const chooseCuts = (entries: readonly Entry[], count: number, random: Random): readonly Cut[] => {
  const kinds: readonly (readonly number[])[] = [
    entries.map((_, index) => index),
    positionsWhere(entries, isAboutNames),
    aroundStarts(entries),
    afterBytes(entries),
    positionsWhere(entries, (entry) => 'acknowledged' in (markOf(entry) ?? {})),
  ].filter((positions) => positions.length > 0)
  const cuts = Array.from({ length: count }, (): Cut => {
    const position = random.pick(random.pick(kinds))
    return { position, mode: random.pick(modes), fate: random.pick(fates), seed: random.below(2 ** 31) }
  })
  return cuts.toSorted((a, b) => a.position - b.position)
}

interface Options {
  /** Either a number of cuts that the seed chooses, or one earlier cut to repeat. */
  readonly cuts: { readonly count: number; readonly seed: number } | Cut
  readonly isIgnored?: Ignored
}

/** The seed of `npm run prove`. Other runs always use the same seed. */
export const provedSeed = Number(process.env['PROVE_SEED'] ?? 20_261_125)

/** For one in this many states, the service runs in a separate process. */
const apartEvery = 50

/** Cuts the power at each chosen position. Returns the first fault in a resulting state. */
export const tryCuts = async (
  { root, log }: Pick<Recording, 'root' | 'log'>,
  { cuts, isIgnored }: Options,
): Promise<{ readonly cut: Cut; readonly fault: string } | undefined> => {
  const entries = readLog(log)
  const replay = createReplay(entries, root, isIgnored)
  const scratch = mkdtempSync(join(temporaryFolder(), 'site-admin-power-cuts-'))
  const target = join(scratch, 'state')
  const chosen = 'count' in cuts ? chooseCuts(entries, cuts.count, createRandom(cuts.seed)) : [cuts]
  try {
    for (const [number, cut] of chosen.entries()) {
      replay.advance(cut.position)
      replay.build(target, { ...cut, random: createRandom(cut.seed) })
      const isApart = number % apartEvery === 0
      const fault = await judge(target, expectationAt(entries, cut.position), isApart)
      if (fault !== undefined) return { cut, fault }
      removeDirectory(target)
    }
    return undefined
  } finally {
    removeDirectory(scratch)
  }
}
