/** Every form that the fingerprint of some bytes may have: two are of the same bytes when they share one. */
export type Fingerprint = readonly string[]

/** A file, as one side has it. */
export interface FileState {
  /** In bytes. */
  readonly size: number
  readonly fingerprint: Fingerprint
}

/** The last known state of both sides at a path. A missing side had nothing. */
export interface SeenState {
  readonly local?: Fingerprint
  readonly remote?: Fingerprint
}

export type KeptWhy = 'equal' | 'newer' | 'extra' | 'stays'

/** The files of one side, or what was seen of them, by path: `/` between the parts, none in front. */
export type Tree<State> = ReadonlyMap<string, State>

/**
 * `keep` leaves both sides as they are: `why` is `equal`; `newer` when the change is on the side that would be written
 * to, and is none of this run; `extra` when only that side has it and `removes` would remove it; `stays` when only that
 * side has it and `removes` would leave it, as it is new there. `conflict` is a change on both sides, or
 * something else in the place: `inTheWay` is a file where a folder has to be, or a folder with files where the file has
 * to be, which only `removes` takes away.
 */
export type Step =
  | { readonly action: 'create' | 'replace' | 'remove'; readonly path: string; readonly size: number }
  | {
      readonly action: 'conflict'
      readonly path: string
      readonly size: number
      readonly inTheWay?: { readonly type: 'file' | 'folder'; readonly path: string }
    }
  | { readonly action: 'keep'; readonly path: string; readonly size: number; readonly why: KeptWhy }

export interface PlanOptions {
  /** `push` makes the remote side like the local one, `pull` the local side like the remote one. */
  readonly direction: 'push' | 'pull'
  /** Entries that are missing on one side may be removed from the other. */
  readonly removes?: boolean
  /** Changes of the target may be overwritten. */
  readonly force?: boolean
}

/** Equal bytes, or nothing on both sides. */
export const isSame = (one: Fingerprint | undefined, other: Fingerprint | undefined): boolean => {
  if (!one || !other) return one === other
  return one.some((form) => other.includes(form))
}

// Undefined if the path was never seen.
interface Seen {
  readonly source: Fingerprint | undefined
  readonly target: Fingerprint | undefined
}

// Overwrite, conflict, or not part of this run.
const verdictOn = (
  source: FileState | undefined,
  target: FileState | undefined,
  seen: Seen | undefined,
  direction: PlanOptions['direction'],
): 'write' | 'conflict' | 'newer' => {
  // What was never in the site would be lost when it is replaced. The service keeps what a push replaces.
  if (!seen) return source && target && direction === 'pull' ? 'conflict' : 'write'
  const wereAlike = isSame(seen.source, seen.target)
  if (isSame(target?.fingerprint, seen.target))
    return source && target && direction === 'pull' && !wereAlike ? 'conflict' : 'write'
  const sourceChanged = !isSame(source?.fingerprint, seen.source)
  return sourceChanged || (source && !wereAlike) ? 'conflict' : 'newer'
}

const stepAt = (
  path: string,
  source: FileState | undefined,
  target: FileState | undefined,
  seen: Seen | undefined,
  { direction, removes = false, force = false }: PlanOptions,
): Step => {
  const size = source?.size ?? target?.size ?? 0
  if (isSame(source?.fingerprint, target?.fingerprint)) return { action: 'keep', path, size, why: 'equal' }
  const verdict = force ? 'write' : verdictOn(source, target, seen, direction)
  if (!source && !removes) return { action: 'keep', path, size, why: verdict === 'write' ? 'extra' : 'stays' }
  if (verdict === 'newer') return { action: 'keep', path, size, why: 'newer' }
  if (verdict === 'conflict') return { action: 'conflict', path, size }
  if (!source) return { action: 'remove', path, size }
  return { action: target ? 'replace' : 'create', path, size }
}

/** The folders that a path lies in, the deepest first. */
export const foldersOf = (path: string): readonly string[] => {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('/'))
}

// A path below or above an obstacle that stays becomes a conflict.
const withObstacles = (steps: readonly Step[], target: Tree<FileState>): readonly Step[] => {
  const stays = steps.flatMap(({ action, path }) => (action !== 'remove' && target.has(path) ? [path] : []))
  const files = new Set(stays)
  const folders = new Set(stays.flatMap(foldersOf))
  return steps.map((step): Step => {
    const { action, path, size } = step
    if (action !== 'create') return step
    const file = foldersOf(path).find((folder) => files.has(folder))
    if (file !== undefined) return { action: 'conflict', path, size, inTheWay: { type: 'file', path: file } }
    return folders.has(path) ? { action: 'conflict', path, size, inTheWay: { type: 'folder', path } } : step
  })
}

const byPath = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/**
 * Plans a push or a pull, sorted by path. `base` is the state after the last run; undefined for the first run, which
 * cannot know who changed a file. A first push then overwrites, because the service keeps the old state; a first pull
 * reports a conflict. A pure function.
 */
export const plan = (
  local: Tree<FileState>,
  remote: Tree<FileState>,
  base: Tree<SeenState> | undefined,
  options: PlanOptions,
): readonly Step[] => {
  const paths = [...new Set([...local.keys(), ...remote.keys()])].sort(byPath)
  const steps = paths.map((path) => {
    const [here, there, seen] = [local.get(path), remote.get(path), base?.get(path)]
    return options.direction === 'push'
      ? stepAt(path, here, there, base && { source: seen?.local, target: seen?.remote }, options)
      : stepAt(path, there, here, base && { source: seen?.remote, target: seen?.local }, options)
  })
  return withObstacles(steps, options.direction === 'push' ? remote : local)
}

// For a path that the run has not made equal.
const seenAt = (
  here: Fingerprint | undefined,
  there: Fingerprint | undefined,
  before: SeenState | undefined,
  first: PlanOptions['direction'] | undefined,
): SeenState | undefined => {
  const now = { ...(here && { local: here }), ...(there && { remote: there }) }
  if (here && there && isSame(here, there)) return now
  if (!first) return before
  // What the other side never had is not known to be missing there. A repetition writes over what this run would have,
  // and over nothing newer.
  if (first === 'push') return there && { remote: there }
  return here && !there ? { local: here } : undefined
}

/**
 * The known state after a run. Paths that are equal now get both sides. Others keep their earlier state, so that a
 * change that this run left alone is still recognised. `done` are the paths that the run has made equal, with their new
 * state; undefined means nothing is there.
 */
export const seenAfter = (
  local: Tree<FileState>,
  remote: Tree<FileState>,
  base: Tree<SeenState> | undefined,
  done: Tree<Fingerprint | undefined>,
  direction: PlanOptions['direction'],
): Map<string, SeenState> => {
  const first = base ? undefined : direction
  const seen = new Map<string, SeenState>()
  for (const path of new Set([...local.keys(), ...remote.keys()])) {
    const now = done.get(path)
    const state = done.has(path)
      ? now && { local: now, remote: now }
      : seenAt(local.get(path)?.fingerprint, remote.get(path)?.fingerprint, base?.get(path), first)
    if (state) seen.set(path, state)
  }
  return seen
}
