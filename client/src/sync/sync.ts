import { inParallel } from '../in-parallel.ts'
import { hasExactSpelling, joinPath, pathOf } from '../paths.ts'
import { hasStatus } from '../service-error.ts'
import { carryOut } from './carry-out.ts'
import type { Counts, EndEvent } from './events.ts'
import { LocalRefusal } from './local-refusal.ts'
import { foldersOf, type Step } from './plan.ts'
import { type Direction, type Prepared, prepare, type SyncOptions } from './prepare.ts'
import type { Writing } from './write.ts'

const countsOf = (steps: readonly Step[]): Counts => {
  const count = (action: Step['action']) => steps.filter((step) => step.action === action).length
  return {
    create: count('create'),
    replace: count('replace'),
    remove: count('remove'),
    keep: count('keep'),
    conflict: count('conflict'),
  }
}

const isWriting = (step: Step): step is Writing => step.action !== 'keep' && step.action !== 'conflict'

const bytesOf = (steps: readonly Step[]): number => steps.reduce((sum, { size }) => sum + size, 0)

/** An empty side is probably a wrong folder or a disk that is not mounted. */
const refuseEmptying = (direction: Direction, { local, remote, steps }: Prepared): void => {
  const source = direction === 'push' ? local : remote
  if (source.size > 0 || !steps.some(({ action }) => action === 'remove')) return
  throw new LocalRefusal(
    direction === 'push'
      ? 'The local folder has no files, so nothing was removed from the site. Check the folder. ' +
          'To empty the folder of the site, use "rm".'
      : 'The folder of the site has no files, so nothing was removed here. Check the path.',
  )
}

const refuseTwin = (folder: string, other: string): never => {
  throw new LocalRefusal(
    `"${folder}" and "${other}" would be two folders of the site. Rename one of them, here or on the site. ` +
      'Nothing was changed.',
  )
}

/** The listing of the site has no empty folders, so they are looked up. The uploads report all other refusals. */
const refuseEmptyTwins = async (
  { client, signal }: SyncOptions,
  folder: string,
  created: readonly string[],
): Promise<void> => {
  const parentOf = (each: string) => foldersOf(each)[0]
  const all = new Set(created)
  let wanted = created.filter((each) => !all.has(parentOf(each) ?? ''))
  while (wanted.length > 0) {
    const found = new Set<string | undefined>()
    await inParallel(wanted, 8, async (each) => {
      signal?.throwIfAborted()
      const path = joinPath(folder, each)
      const entry = await client.files.stat(path).catch((error: unknown) => {
        if (!hasStatus(error, 400, 403, 404)) throw error
      })
      if (entry?.type !== 'folder') return
      if (!hasExactSpelling(path, entry)) refuseTwin(path, pathOf(entry) ?? path)
      found.add(each)
    })
    wanted = created.filter((each) => found.has(parentOf(each)))
  }
}

/** T-68. Reads ignore the case of names, so they would find only one of the two folders. */
const refuseTwins = async (options: SyncOptions, { folder, remoteFolders, steps }: Prepared): Promise<void> => {
  const formOf = (path: string) => path.replace(/[^/]+$/, (name) => name.toLowerCase())
  const spellings = new Map([...remoteFolders].map((each) => [formOf(each), each]))
  const needed = steps.flatMap(({ action, path }) => (action === 'create' ? [...foldersOf(path)].reverse() : []))
  const created = new Set(needed.filter((each) => !remoteFolders.has(each)))
  for (const each of created) {
    const other = spellings.get(formOf(each)) ?? each
    spellings.set(formOf(each), other)
    if (other !== each) refuseTwin(each, other)
  }
  await refuseEmptyTwins(options, folder, [...created])
}

const run = async (direction: Direction, options: SyncOptions): Promise<EndEvent> => {
  const { onEvent = () => {}, signal, dryRun = false, confirm } = options
  const prepared = await prepare(direction, options)
  refuseEmptying(direction, prepared)
  if (direction === 'push') await refuseTwins(options, prepared)
  const { steps, unreadable, skipped } = prepared
  const counts = countsOf(steps)
  const removals = steps.filter(({ action }) => action === 'remove')
  const writing = steps.filter(isWriting)
  const bytes = bytesOf(writing.filter(({ action }) => action !== 'remove'))
  const end = (rest: Partial<EndEvent>): EndEvent => {
    const failed = unreadable.length + (rest.failed ?? 0)
    const interrupted = signal?.aborted ?? false
    const event: EndEvent = { event: 'end', interrupted, skipped: skipped.length, ...counts, ...rest, failed }
    onEvent(event)
    return event
  }

  for (const each of unreadable) onEvent({ event: 'failed', ...each })
  onEvent({ event: 'plan', bytes, removedBytes: bytesOf(removals), ignored: prepared.ignoredPaths, ...counts })
  for (const step of steps) {
    const isOfInterest = step.action !== 'keep' || step.why !== 'equal'
    if (isOfInterest && (dryRun || !isWriting(step))) onEvent({ event: 'step', ...step })
  }
  if (dryRun) return end({})
  const mayRemove = removals.length === 0 || !confirm || (await confirm(removals.map(({ path }) => path)))
  const { failed, conflict, ...made } = await carryOut(
    direction,
    options,
    prepared,
    mayRemove ? writing : writing.filter(({ action }) => action !== 'remove'),
  )
  return end({ failed, ...made, conflict: counts.conflict + conflict })
}

/**
 * Uploads the files of a local folder that differ from the site. A transfer fails if somebody else has changed the
 * file. Resolves even if single files failed. Errors: a `ServiceError` that concerns every file; `LocalRefusal`; those
 * of `node:fs`.
 */
export const push = (options: SyncOptions): Promise<EndEvent> => run('push', options)

export const pull = (options: SyncOptions): Promise<EndEvent> => run('pull', options)
