/** Every form that the fingerprint of some bytes may have: two are of the same bytes when they share one. */
export type Fingerprint = readonly string[]

/** A file, as one side has it. */
export interface FileState {
  /** In bytes. */
  readonly size: number
  readonly fingerprint: Fingerprint
}

/** What both sides had at a path when they were last looked at; a side that had nothing is left out. */
export interface SeenState {
  readonly local?: Fingerprint
  readonly remote?: Fingerprint
}

/** The files of one side, or what was seen of them, by path: `/` between the parts, none in front. */
export type Tree<State> = ReadonlyMap<string, State>

/**
 * `keep` leaves both sides as they are: `why` is `equal`; `newer` when the change is on the side that would be written to, and is none of this run;
 * `extra` when removing was not asked for. `conflict` is a change on both sides.
 */
export type Step =
  | { readonly action: 'create' | 'replace' | 'remove' | 'conflict'; readonly path: string; readonly size: number }
  | { readonly action: 'keep'; readonly path: string; readonly size: number; readonly why: 'equal' | 'newer' | 'extra' }

export interface PlanOptions {
  /** `push` makes the remote side like the local one, `pull` the local side like the remote one. */
  readonly direction: 'push' | 'pull'
  /** Whether what is missing in one side may be removed from the other. */
  readonly removes?: boolean
  /** Whether changes of the side that is written to may be overwritten. */
  readonly force?: boolean
}

const isSame = (one: Fingerprint | undefined, other: Fingerprint | undefined): boolean => {
  if (!one || !other) return one === other
  return one.some((form) => other.includes(form))
}

/** What to do at one path. `seen` is undefined when nothing was ever seen: then no side has changed. */
const stepAt = (
  path: string,
  source: FileState | undefined,
  target: FileState | undefined,
  seen: { readonly source: Fingerprint | undefined; readonly target: Fingerprint | undefined } | undefined,
  { removes = false, force = false }: PlanOptions,
): Step => {
  const size = source?.size ?? target?.size ?? 0
  if (isSame(source?.fingerprint, target?.fingerprint)) return { action: 'keep', path, size, why: 'equal' }
  if (!source && !removes) return { action: 'keep', path, size, why: 'extra' }
  const targetChanged = seen !== undefined && !isSame(target?.fingerprint, seen.target)
  const sourceChanged = seen !== undefined && !isSame(source?.fingerprint, seen.source)
  if (targetChanged && !force) {
    return sourceChanged ? { action: 'conflict', path, size } : { action: 'keep', path, size, why: 'newer' }
  }
  if (!source) return { action: 'remove', path, size }
  return { action: target ? 'replace' : 'create', path, size }
}

const byPath = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/**
 * What a push or a pull does, sorted by path. `base` is what the last one saw; undefined when there was none: then what differs is written over, as nobody
 * can tell who has changed it. Pure: the sides are looked at by others, and the plan is carried out by others.
 */
export const plan = (
  local: Tree<FileState>,
  remote: Tree<FileState>,
  base: Tree<SeenState> | undefined,
  options: PlanOptions,
): readonly Step[] => {
  const paths = [...new Set([...local.keys(), ...remote.keys()])].sort(byPath)
  return paths.map((path) => {
    const [here, there, seen] = [local.get(path), remote.get(path), base?.get(path)]
    return options.direction === 'push'
      ? stepAt(path, here, there, base && { source: seen?.local, target: seen?.remote }, options)
      : stepAt(path, there, here, base && { source: seen?.remote, target: seen?.local }, options)
  })
}

/** What was seen at one path after a run that has not made both sides equal there. */
const seenAt = (
  here: Fingerprint | undefined,
  there: Fingerprint | undefined,
  before: SeenState | undefined,
  isFirst: boolean,
): SeenState | undefined => {
  const now = { ...(here && { local: here }), ...(there && { remote: there }) }
  if (here && there && isSame(here, there)) return now
  return isFirst && !(here && there) ? now : before
}

/**
 * What was seen, after a run: of what is equal now, both sides. The rest stays as it was seen before, so that a change which this run has left alone is still
 * known as one. The first run remembers what only one side had as well. `done` are the paths where the run has made both sides equal, with what they have then; undefined is nothing.
 */
export const seenAfter = (
  local: Tree<FileState>,
  remote: Tree<FileState>,
  base: Tree<SeenState> | undefined,
  done: Tree<Fingerprint | undefined>,
): Map<string, SeenState> => {
  const seen = new Map<string, SeenState>()
  for (const path of new Set([...local.keys(), ...remote.keys()])) {
    const now = done.get(path)
    const state = done.has(path)
      ? now && { local: now, remote: now }
      : seenAt(local.get(path)?.fingerprint, remote.get(path)?.fingerprint, base?.get(path), !base)
    if (state) seen.set(path, state)
  }
  return seen
}
