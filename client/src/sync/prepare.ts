import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, resolve as resolvePath } from 'node:path'
import type { SiteClient } from '../connect.ts'
import { joinPath, pathOf } from '../paths.ts'
import { hasStatus } from '../service-error.ts'
import type { SyncEvent } from './events.ts'
import { isInStateFolder, readIgnored, stateFolder } from './ignored.ts'
import { LocalRefusal } from './local-refusal.ts'
import { type LocalTree, scan } from './local-tree.ts'
import { makeFolder } from './make-folder.ts'
import { isSame, type PlanOptions, plan, type SeenState, type Step } from './plan.ts'
import { listRemote, type RemoteTree } from './remote-tree.ts'
import { openState, type SyncState } from './state.ts'
import { removeLeftovers } from './temporary.ts'

export interface SyncOptions {
  readonly client: SiteClient
  readonly directory: string
  readonly folder?: string
  /** Removes files that the other side does not have. If the other side is empty, removes nothing. */
  readonly removes?: boolean
  /** Includes files that `.siteignore` or the built-in patterns ignore. */
  readonly all?: boolean
  readonly force?: boolean
  /**
   * For these files in conflict, or folders with such files, the run keeps the local state (`mine`) or the state of the
   * site (`theirs`).
   */
  readonly mine?: readonly string[]
  readonly theirs?: readonly string[]
  readonly dryRun?: boolean
  /** The run calls this before its first removal, to ask the user. By default, it removes without a question. */
  readonly confirm?: (paths: readonly string[]) => Promise<boolean>
  readonly onEvent?: (event: SyncEvent) => void
  readonly signal?: AbortSignal
  readonly atOnce?: number
}

export type Direction = PlanOptions['direction']

/**
 * In milliseconds. If a file changed within this time before its scan, or after it, it may change again without a new
 * modification time.
 */
const coarseClock = 2000

/**
 * Returns the folder in the spelling of the site, because reads ignore case, but conditional writes do not. Only a push
 * may name a new folder.
 */
const findFolder = async (client: SiteClient, wanted: string, direction: Direction): Promise<string> => {
  const folder = wanted.split('/').filter(Boolean).join('/').normalize('NFC')
  if (folder === '') return ''
  try {
    const { links, type } = await client.files.stat(folder)
    if (type === 'file')
      throw new LocalRefusal(`"${folder}" is a file of the site. Name a folder, or use "get" and "put" for one file.`)
    const found = pathOf({ links }) ?? folder
    return found.toLowerCase() === folder.toLowerCase() ? found : folder
  } catch (error) {
    if (direction !== 'push' || !hasStatus(error, 404)) throw error
    const names = folder.split('/')
    return joinPath(await findFolder(client, names.slice(0, -1).join('/'), direction), names.at(-1) ?? '')
  }
}

const isCovered = (places: readonly { readonly path: string }[], path: string): boolean =>
  places.some((each) => each.path === '' || path === each.path || path.startsWith(`${each.path}/`))

const selectExclusions = (direction: Direction, here: LocalTree, there: RemoteTree) => {
  if (direction === 'push') return here
  const paths = [...there.files.keys()]
  const blocking = here.skipped.filter((each) => paths.some((path) => isCovered([each], path)))
  return {
    skipped: [...blocking, ...there.skipped],
    unreadable: [...here.unreadable, ...there.unstorable],
    ignored: there.ignored,
  }
}

const isOnSiteOnly = (step: Step): boolean =>
  step.action === 'remove' || (step.action === 'keep' && step.why === 'extra')

type Files = Pick<LocalTree, 'files'> & { readonly remote: RemoteTree['files'] }

/**
 * For each conflict that the user has decided, the chosen side counts as changed, and the other side as unchanged.
 * Errors: `LocalRefusal`.
 */
const resolve = (
  { mine = [], theirs = [] }: Pick<SyncOptions, 'mine' | 'theirs'>,
  { files, remote }: Files,
  steps: () => readonly Step[],
): ReadonlyMap<string, SeenState> => {
  const resolved = new Map<string, SeenState>()
  if (mine.length + theirs.length === 0) return resolved
  const conflicts = steps().filter((step) => step.action === 'conflict' && !step.inTheWay)
  const isIn = (paths: readonly string[], path: string) =>
    paths.some((each) => isCovered([{ path: each.normalize('NFC') }], path))
  const both = conflicts.find(({ path }) => isIn(mine, path) && isIn(theirs, path))
  if (both) throw new LocalRefusal(`"${both.path}" is in --mine and in --theirs. Choose one side.`)
  for (const [chosen, other] of [
    ...mine.map((path) => [path, remote] as const),
    ...theirs.map((path) => [path, files] as const),
  ]) {
    const covered = conflicts.filter(({ path }) => isIn([chosen], path))
    if (covered.length === 0)
      throw new LocalRefusal(`"${chosen}" is not in conflict. "site-files diff" lists the conflicts.`)
    for (const { path } of covered) {
      const fingerprint = other.get(path)?.fingerprint
      resolved.set(path, fingerprint ? { local: fingerprint, remote: fingerprint } : {})
    }
  }
  return resolved
}

const withSides = (step: Step, { files, remote }: Files): Step => {
  if (step.action !== 'conflict') return step
  const [here, there] = [files.get(step.path), remote.get(step.path)]
  return {
    ...step,
    ...(here && { here: { size: here.size, modified: new Date(here.modified).toISOString() } }),
    ...(there && { there: { size: there.size, modified: there.modified } }),
  }
}

const isPresent = async (path: string): Promise<boolean> => {
  const found = await lstat(path).catch(() => undefined)
  return found !== undefined
}

/** O-25. A site may have a file with this name, but only pulled folders contain `stateFolder`. */
const refuseDataDirectory = async (directory: string): Promise<void> => {
  const place = await realpath(directory).catch(() => undefined)
  const isOfService =
    place && (await isPresent(join(place, 'site-admin.db'))) && !(await isPresent(join(place, stateFolder)))
  if (isOfService)
    throw new LocalRefusal(`"${place}" has the data of a service or a backup. Choose a folder outside it.`)
  const above = dirname(place ?? resolvePath(directory))
  if (above !== place) await refuseDataDirectory(above)
}

const refuseOtherState = async (place: string): Promise<void> => {
  const found = await lstat(place).catch(() => undefined)
  if (found && !found.isDirectory()) throw new LocalRefusal(`"${place}" is not a folder. Remove it, then repeat.`)
}

/** `pull` creates a missing folder, but a dry run does not. */
const openFolder = async (direction: Direction, { directory, dryRun }: SyncOptions) => {
  if (direction === 'pull') await refuseDataDirectory(directory)
  if (direction === 'pull' && !dryRun) await makeFolder(directory)
  const isMissing = direction === 'pull' && !(await isPresent(directory))
  return { root: isMissing ? resolvePath(directory) : await realpath(directory), isMissing }
}

const nothingHere: LocalTree = { files: new Map(), skipped: [], unreadable: [], ignored: 0 }

export const prepare = async (direction: Direction, options: SyncOptions) => {
  const { client, signal, onEvent, removes = false, force = false } = options
  const folder = await findFolder(client, options.folder ?? '', direction)
  const { root, isMissing } = await openFolder(direction, options)
  await refuseOtherState(join(root, stateFolder))
  if (!options.dryRun) await removeLeftovers(join(root, stateFolder))
  const ignored = options.all ? isInStateFolder : await readIgnored(root)
  const opened = await openState(root, `${client.site.url} ${client.site.id} ${folder}`)
  const state: SyncState = opened.state
  const before = state.scanned
  state.scanned = Date.now()
  const remembered = (path: string) => {
    const known = state.remembered.get(path)
    return known && known.touched < before - coarseClock ? known : undefined
  }
  const [here, there] = await Promise.all([
    isMissing ? nothingHere : scan(root, { ignored, remembered, signal }),
    listRemote(client.files, folder, ignored, signal),
  ])
  const { files: local } = here
  const { files: remote } = there
  const { skipped, unreadable, ignored: ignoredPaths } = selectExclusions(direction, here, there)
  for (const each of skipped) onEvent?.({ event: 'skipped', ...each })
  state.remembered.clear()
  for (const [path, { location: _, ...file }] of local) state.remembered.set(path, file)
  for (const [place, { address, fingerprint, modified, touched }] of state.uploads) {
    const path = folder === '' ? place : place.slice(folder.length + 1)
    const file = local.get(path)
    const isUntouched =
      file?.fingerprint.join(' ') === fingerprint && file.modified === modified && file.touched === touched
    const isWanted = isUntouched && !isSame(file.fingerprint, remote.get(path)?.fingerprint)
    // A run with `all` may be sending an ignored file now.
    if (isWanted || ignored(path) || options.dryRun) continue
    state.uploads.delete(place)
    // An open upload counts in the quota of the site until it expires.
    await client.files.cancel(address).catch(() => {})
  }
  const isUnreadable = (path: string) => isCovered(unreadable, path)
  // An unreadable file may be the new place of a moved file. Then the other side still needs the old file.
  const isKnown = unreadable.length === 0
  // A file that exists but cannot be sent is not missing.
  const choices = { direction, removes: removes && isKnown, force }
  const resolved = resolve(options, { files: local, remote }, () =>
    plan(local, remote, state.base, { ...choices, force: false }),
  )
  const steps = plan(local, remote, state.base, { ...choices, resolved })
    .filter(({ path }) => !isUnreadable(path))
    .map((step) => withSides(step, { files: local, remote }))
    .map(
      (step): Step =>
        direction === 'push' && isOnSiteOnly(step) && isCovered(skipped, step.path)
          ? { action: 'keep', path: step.path, size: step.size, why: 'stays' }
          : step,
    )
  return {
    root,
    folder,
    local,
    remote,
    remoteFolders: there.folders,
    state,
    resolved,
    save: opened.save,
    steps,
    skipped,
    unreadable,
    isUnreadable,
    ignoredPaths,
  }
}

export type Prepared = Awaited<ReturnType<typeof prepare>>
