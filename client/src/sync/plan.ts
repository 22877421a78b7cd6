/** All fingerprints of the same bytes. Two files are equal if they share a fingerprint. */
export type Fingerprint = readonly string[]

export interface FileState {
  readonly size: number
  readonly fingerprint: Fingerprint
}

/** The last known state of both sides at a path. A side without a file is undefined. */
export interface SeenState {
  readonly local?: Fingerprint
  readonly remote?: Fingerprint
}

/** `modified` is the time of the last change, as an ISO date. */
export interface Side {
  readonly size: number
  readonly modified: string | null
}

export type KeptWhy = 'equal' | 'newer' | 'extra' | 'stays'

/** Files by their path. Paths have `/` only between the segments. */
export type Tree<State> = ReadonlyMap<string, State>

/**
 * Reasons to `keep`: `equal`: both sides are the same; `newer`: only the target has changed; `extra`: only the target
 * has the file, and `removes` would remove it; `stays`: the file is new on the target. A `conflict` is a change on both
 * sides, or an obstacle: `inTheWay` is a file in place of a folder, or a folder with files in place of the file.
 * Obstacles are removed only with `removes`.
 */
export type Step =
  | { readonly action: 'create' | 'replace' | 'remove'; readonly path: string; readonly size: number }
  | {
      readonly action: 'conflict'
      readonly path: string
      readonly size: number
      readonly inTheWay?: { readonly type: 'file' | 'folder'; readonly path: string }
      readonly here?: Side
      readonly there?: Side
    }
  | { readonly action: 'keep'; readonly path: string; readonly size: number; readonly why: KeptWhy }

export interface PlanOptions {
  readonly direction: 'push' | 'pull'
  readonly removes?: boolean
  readonly force?: boolean
  /**
   * Replaces the last known state of the paths for which the user has chosen a side. Not even `force` overrides this
   * choice.
   */
  readonly resolved?: Tree<SeenState>
}

export const isSame = (one: Fingerprint | undefined, other: Fingerprint | undefined): boolean => {
  if (!one || !other) return one === other
  return one.some((form) => other.includes(form))
}

interface Seen {
  readonly source: Fingerprint | undefined
  readonly target: Fingerprint | undefined
}

const verdictOn = (
  source: FileState | undefined,
  target: FileState | undefined,
  seen: Seen | undefined,
  direction: PlanOptions['direction'],
): 'write' | 'conflict' | 'newer' => {
  // A pull would lose a file that was never in the site. A push loses nothing, because the service keeps the old
  // version.
  if (!seen) return source && target && direction === 'pull' ? 'conflict' : 'write'
  const wereEqual = isSame(seen.source, seen.target)
  if (isSame(target?.fingerprint, seen.target))
    return source && target && direction === 'pull' && !wereEqual ? 'conflict' : 'write'
  const sourceChanged = !isSame(source?.fingerprint, seen.source)
  return sourceChanged || (source && !wereEqual) ? 'conflict' : 'newer'
}

const stepAt = (
  path: string,
  source: FileState | undefined,
  target: FileState | undefined,
  seen: Seen | undefined,
  { direction, removes = false, force = false, resolved }: PlanOptions,
): Step => {
  const size = source?.size ?? target?.size ?? 0
  if (isSame(source?.fingerprint, target?.fingerprint)) return { action: 'keep', path, size, why: 'equal' }
  const verdict = force && !resolved?.has(path) ? 'write' : verdictOn(source, target, seen, direction)
  if (!source && !removes) return { action: 'keep', path, size, why: verdict === 'write' ? 'extra' : 'stays' }
  if (verdict === 'newer') return { action: 'keep', path, size, why: 'newer' }
  if (verdict === 'conflict') return { action: 'conflict', path, size }
  if (!source) return { action: 'remove', path, size }
  return { action: target ? 'replace' : 'create', path, size }
}

export const foldersOf = (path: string): readonly string[] => {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('/'))
}

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
 * Plans a push or a pull, sorted by path. `base` is the state after the last run. It is undefined in the first run,
 * which cannot know which side changed a file. So a first push overwrites, because the service keeps the old version,
 * and a first pull reports a conflict. A pure function.
 */
export const plan = (
  local: Tree<FileState>,
  remote: Tree<FileState>,
  base: Tree<SeenState> | undefined,
  options: PlanOptions,
): readonly Step[] => {
  const paths = [...new Set([...local.keys(), ...remote.keys()])].sort(byPath)
  const steps = paths.map((path) => {
    const known = options.resolved?.has(path) ? options.resolved : base
    const [here, there, seen] = [local.get(path), remote.get(path), known?.get(path)]
    return options.direction === 'push'
      ? stepAt(path, here, there, known && { source: seen?.local, target: seen?.remote }, options)
      : stepAt(path, there, here, known && { source: seen?.remote, target: seen?.local }, options)
  })
  return withObstacles(steps, options.direction === 'push' ? remote : local)
}

const nextState = (
  here: Fingerprint | undefined,
  there: Fingerprint | undefined,
  before: SeenState | undefined,
  first: PlanOptions['direction'] | undefined,
): SeenState | undefined => {
  const now = { ...(here && { local: here }), ...(there && { remote: there }) }
  if (here && there && isSame(here, there)) return now
  if (!first) return before
  // In a first run, a file that only one side has does not count as removed on the other side. So a repeated run
  // overwrites exactly what this run would have overwritten.
  if (first === 'push') return there && { remote: there }
  return here && !there ? { local: here } : undefined
}

/**
 * The known state after a run. Equal paths get the state of both sides. Other paths keep their earlier state, so that
 * the next run still sees their change. `done` contains the paths that the run has made equal. For an undefined entry,
 * neither side has the file.
 */
export const nextBase = (
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
      : nextState(local.get(path)?.fingerprint, remote.get(path)?.fingerprint, base?.get(path), first)
    if (state) seen.set(path, state)
  }
  return seen
}
