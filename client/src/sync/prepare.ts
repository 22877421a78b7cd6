import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { SiteClient } from '../connect.ts'
import { pathOf } from '../paths.ts'
import { ServiceError } from '../service-error.ts'
import type { SyncEvent } from './events.ts'
import { isOfState, readIgnored, stateFolder } from './ignored.ts'
import { LocalRefusal } from './local-refusal.ts'
import { type LocalTree, scan } from './local-tree.ts'
import { isSame, type PlanOptions, plan, type Step } from './plan.ts'
import { listRemote, type RemoteTree } from './remote-tree.ts'
import { openState, type SyncState } from './state.ts'
import { removeLeftovers } from './temporary.ts'

export interface SyncOptions {
  readonly client: SiteClient
  /** The folder of this machine. */
  readonly directory: string
  /** The folder of the site; the root is an empty path. */
  readonly folder?: string
  /** Removes what is missing in the other side. Never all: an empty side empties nothing. */
  readonly removes?: boolean
  /** Takes along what is ignored otherwise: what `.siteignore` names, and what is built in. */
  readonly all?: boolean
  /** Overwrites what has changed on the side that is written to. */
  readonly force?: boolean
  /** Reports what would be done, and does nothing. */
  readonly dryRun?: boolean
  /** Asked before anything is removed; without it, `removes` says enough. */
  readonly confirm?: (paths: readonly string[]) => Promise<boolean>
  readonly onEvent?: (event: SyncEvent) => void
  readonly signal?: AbortSignal
  /** So many files at once: 8 unless told. */
  readonly atOnce?: number
}

export type Direction = PlanOptions['direction']

/**
 * A file changed within this time before the state was written may change again without its time being another. In
 * milliseconds.
 */
const coarseClock = 2000

/**
 * A folder as its name is written in the site: reads find it in other case too, and writes under a condition do not.
 * Only a push may name one that is not there.
 */
const findFolder = async ({ files }: SiteClient, wanted: string, direction: Direction): Promise<string> => {
  const folder = wanted.split('/').filter(Boolean).join('/').normalize('NFC')
  if (folder === '') return ''
  try {
    const { links, type } = await files.stat(folder)
    if (type === 'file')
      throw new LocalRefusal(`"${folder}" is a file of the site. Name a folder, or use "get" and "put" for one file.`)
    const found = pathOf({ links }) ?? folder
    return found.toLowerCase() === folder.toLowerCase() ? found : folder
  } catch (error) {
    if (direction === 'push' && error instanceof ServiceError && error.status === 404) return folder
    throw error
  }
}

const isAmong = (places: readonly { readonly path: string }[], path: string): boolean =>
  places.some((each) => path === each.path || path.startsWith(`${each.path}/`))

/** What a run leaves out; of this machine's, a pull tells what may be in its way. */
const leftOutOf = (direction: Direction, here: LocalTree, there: RemoteTree) => {
  if (direction === 'push') return here
  const paths = [...there.files.keys()]
  const blocking = here.skipped.filter((each) => paths.some((path) => isAmong([each], path)))
  return {
    skipped: [...blocking, ...there.skipped],
    unread: [...here.unread, ...there.unfit],
    ignored: there.ignored,
  }
}

const isOnSiteOnly = (step: Step): boolean =>
  step.action === 'remove' || (step.action === 'keep' && step.why === 'extra')

/** Looks at both sides, and says what is to be done. */
export const prepare = async (direction: Direction, options: SyncOptions) => {
  const { client, signal, onEvent, removes = false, force = false } = options
  const folder = await findFolder(client, options.folder ?? '', direction)
  if (direction === 'pull' && !options.dryRun) await mkdir(options.directory, { recursive: true })
  const root = await realpath(options.directory)
  if (!options.dryRun) await removeLeftovers(join(root, stateFolder))
  const ignored = options.all ? isOfState : await readIgnored(root)
  const opened = await openState(root, `${client.site.url} ${client.site.id} ${folder}`)
  const state: SyncState = opened.state
  const remembered = (path: string) => {
    const known = state.remembered.get(path)
    return known && known.touched < state.written - coarseClock ? known : undefined
  }
  const [here, there] = await Promise.all([
    scan(root, { ignored, remembered, signal }),
    listRemote(client.files, folder, ignored, signal),
  ])
  const { files: local } = here
  const { files: remote } = there
  const { skipped, unread, ignored: leftOut } = leftOutOf(direction, here, there)
  for (const each of skipped) onEvent?.({ event: 'skipped', ...each })
  state.remembered.clear()
  for (const [path, { location: _, ...file }] of local) state.remembered.set(path, file)
  // An upload that was begun of other bytes, or of ones that are in place, is none to go on with.
  for (const [place, { fingerprint }] of state.uploads) {
    const path = folder === '' ? place : place.slice(folder.length + 1)
    const file = local.get(path)
    const isWanted =
      file?.fingerprint.join(' ') === fingerprint && !isSame(file.fingerprint, remote.get(path)?.fingerprint)
    if (!isWanted) state.uploads.delete(place)
  }
  const isUnread = (path: string) => isAmong(unread, path)
  // Nobody knows what cannot be read: it may be what seems to be missing elsewhere, when it was moved.
  const isKnown = unread.length === 0
  // What is there and cannot be sent is not missing.
  const steps = plan(local, remote, state.base, { direction, removes: removes && isKnown, force })
    .filter(({ path }) => !isUnread(path))
    .map(
      (step): Step =>
        direction === 'push' && isOnSiteOnly(step) && isAmong(skipped, step.path)
          ? { action: 'keep', path: step.path, size: step.size, why: 'stays' }
          : step,
    )
  return { root, folder, local, remote, state, save: opened.save, steps, skipped, unread, isUnread, leftOut }
}

/** Both sides, the plan, and what is kept of them. */
export type Prepared = Awaited<ReturnType<typeof prepare>>
