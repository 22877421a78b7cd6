import { inParallel } from '../in-parallel.ts'
import { joinPath } from '../paths.ts'
import { ServiceError } from '../service-error.ts'
import { sentenceOf, systemCodeOf } from './disk-errors.ts'
import type { SyncEvent } from './events.ts'
import { isConflict, LocalRefusal } from './local-refusal.ts'
import { findObstacles } from './obstacles.ts'
import { type Fingerprint, nextBase } from './plan.ts'
import type { Direction, Prepared, SyncOptions } from './prepare.ts'
import { createWriter, type Writing } from './write.ts'

// In milliseconds: the time between two writes of the state. After a crash, only the files that were written in this
// time are examined again. If there are many files, writing takes at most a tenth of the time.
const saveEvery = 1000
const savingRatio = 10

// True for failures that concern every file: the token, the network, an unavailable service, a full disk.
const isFatal = (error: unknown): boolean => {
  if (error instanceof ServiceError)
    return [0, 401, 429, 502, 503, 504, 507].includes(error.status) || error.code === 104003
  return ['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE'].includes(systemCodeOf(error))
}

const createProgress = (steps: readonly Writing[], report: (event: SyncEvent) => void) => {
  const totalFiles = steps.length
  const totalBytes = steps.reduce((sum, { action, size }) => sum + (action === 'remove' ? 0 : size), 0)
  const inProgress = new Map<string, number>()
  let files = 0
  let bytes = 0
  const tell = () => {
    const now = [...inProgress.values()].reduce((sum, sent) => sum + sent, bytes)
    report({ event: 'progress', files, totalFiles, bytes: Math.min(now, totalBytes), totalBytes })
  }
  return {
    advance(path: string, sent: number) {
      inProgress.set(path, sent)
      tell()
    },
    finish({ path, action, size }: Writing) {
      inProgress.delete(path)
      files++
      bytes += action === 'remove' ? 0 : size
      tell()
    },
    giveUp(path: string) {
      inProgress.delete(path)
    },
  }
}

const createStateSaver = (direction: Direction, { local, remote, state, resolved, save, isUnreadable }: Prepared) => {
  const before = state.base
  const done = new Map<string, Fingerprint | undefined>()
  let next = Date.now() + saveEvery
  const keep = async (): Promise<void> => {
    const began = Date.now()
    next = Number.POSITIVE_INFINITY
    const base = nextBase(local, remote, before, done, direction)
    // A path that cannot be read may still exist, so its file on the other side is not removed.
    for (const [path, seen] of before ?? []) if (isUnreadable(path)) base.set(path, seen)
    // The user has chosen a side for these paths. If this run does not transfer the file, a run in the other direction
    // does.
    for (const [path, seen] of resolved) if (!done.has(path)) base.set(path, seen)
    state.base = base
    await save()
    next = Date.now() + Math.max(saveEvery, savingRatio * (Date.now() - began))
  }
  return {
    keep,
    async note(path: string, now: Fingerprint | undefined): Promise<void> {
      done.set(path, now)
      if (Date.now() > next) await keep()
    },
  }
}

const removeEmpty = async ({ client }: SyncOptions, { folder }: Prepared, paths: readonly string[]): Promise<void> => {
  for (const path of paths) {
    await client.files.remove(joinPath(folder, path), { force: false }).catch((error) => {
      if (isFatal(error)) throw error
    })
  }
}

export const carryOut = async (
  direction: Direction,
  options: SyncOptions,
  prepared: Prepared,
  steps: readonly Writing[],
) => {
  const { signal, atOnce = 8, onEvent = () => {} } = options
  const counts = { create: 0, replace: 0, remove: 0, conflict: 0, failed: 0 }
  const write = createWriter(direction, options, prepared)
  const progress = createProgress(steps, onEvent)
  const saver = createStateSaver(direction, prepared)

  const fail = (path: string, error: unknown): void => {
    progress.giveUp(path)
    if (signal?.aborted) return
    if (isConflict(error)) {
      counts.conflict++
      const why =
        error instanceof LocalRefusal ? error.message : 'It changed on the site in the meantime. Repeat the command.'
      onEvent({ event: 'conflict', path, why })
      return
    }
    counts.failed++
    const code = error instanceof ServiceError ? { code: error.code } : {}
    onEvent({ event: 'failed', path, message: sentenceOf(error), ...code })
    if (isFatal(error)) throw error
  }

  const one = async (step: Writing): Promise<void> => {
    const { path, action, size } = step
    if (signal?.aborted) return
    let now: Fingerprint | undefined
    try {
      now = await write(step, (sent) => progress.advance(path, sent))
    } catch (error) {
      return fail(path, error)
    }
    counts[action]++
    onEvent({ event: 'done', action, path, size })
    progress.finish(step)
    await saver.note(path, now)
  }

  const obstacles = findObstacles(steps)
  const removals = steps.filter((step) => step.action === 'remove' && !obstacles.removals.has(step))
  if (steps.length > 0) await saver.keep()
  try {
    await inParallel(obstacles.removals, atOnce, one)
    if (direction === 'push' && !signal?.aborted) await removeEmpty(options, prepared, obstacles.folders)
    await inParallel(
      steps.filter(({ action }) => action !== 'remove'),
      atOnce,
      one,
    )
    if (counts.failed === 0) await inParallel(removals, atOnce, one)
  } finally {
    await saver.keep()
  }
  return counts
}
