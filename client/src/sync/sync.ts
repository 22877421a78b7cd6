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

/** T-68. Reads ignore the case of names, so they would find only one of the two folders. */
const refuseTwins = ({ remote, steps }: Prepared): void => {
  const formOf = (folder: string) => folder.replace(/[^/]+$/, (name) => name.toLowerCase())
  const present = new Set([...remote.keys()].flatMap(foldersOf))
  const spellings = new Map([...present].map((folder) => [formOf(folder), folder]))
  const created = steps.flatMap(({ action, path }) => (action === 'create' ? [...foldersOf(path)].reverse() : []))
  for (const folder of created) {
    const other = spellings.get(formOf(folder)) ?? folder
    spellings.set(formOf(folder), other)
    if (other !== folder && !present.has(folder))
      throw new LocalRefusal(
        `"${folder}" and "${other}" would be two folders of the site. Rename one of them, here or on the site. ` +
          'Nothing was changed.',
      )
  }
}

const run = async (direction: Direction, options: SyncOptions): Promise<EndEvent> => {
  const { onEvent = () => {}, signal, dryRun = false, confirm } = options
  const prepared = await prepare(direction, options)
  refuseEmptying(direction, prepared)
  if (direction === 'push') refuseTwins(prepared)
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
