import { stat } from 'node:fs/promises'
import { isAccessRefusal, ServiceError } from '../service-error.ts'
import type { EndEvent, SyncEvent } from '../sync/events.ts'
import { isInStateFolder } from '../sync/ignored.ts'
import { LocalRefusal } from '../sync/local-refusal.ts'
import type { Direction } from '../sync/prepare.ts'
import { pull, push } from '../sync/sync.ts'
import { pause } from '../transport.ts'
import { askYesNo, isTerminal } from './ask.ts'
import { printDifference } from './differences.ts'
import { exitStatus, report, UsageError } from './failure.ts'
import { escapeControls, spanOf } from './format-text.ts'
import { tell } from './output.ts'
import { createJsonPrinter, createTextPrinter, type Printer } from './printers.ts'
import { reportChanges } from './report-changes.ts'
import type { Context } from './single.ts'
import { sitePath } from './site-path.ts'
import { watchFolder } from './watch-folder.ts'

export interface SyncFlags {
  readonly all?: true
  readonly delete?: true
  readonly dryRun?: true
  readonly force?: true
  readonly mine?: readonly string[]
  readonly theirs?: readonly string[]
  readonly yes?: true
  readonly content?: true
}

const printerFor = ({ json }: Context, direction: Direction, flags: SyncFlags): Printer =>
  json
    ? createJsonPrinter()
    : createTextPrinter({ direction, isPlanOnly: flags.dryRun ?? false, removes: flags.delete ?? false })

const statusOf = ({ failed, conflict, interrupted }: EndEvent): number => {
  if (failed > 0 || interrupted) return exitStatus.failed
  return conflict > 0 ? exitStatus.conflicts : exitStatus.done
}

const mostListed = 50

const confirmWith =
  ({ json, signal }: Context, printer: Printer) =>
  async (paths: readonly string[]): Promise<boolean> => {
    printer.clear()
    // A script that parses the refusal below expects only JSON.
    const isListed = !json || isTerminal()
    const rest = paths.length > mostListed ? [`… and ${paths.length - mostListed} more`] : []
    for (const path of isListed ? [...paths.slice(0, mostListed), ...rest] : [])
      console.error(escapeControls(`remove  ${path}`))
    const agreed = await askYesNo(`Remove ${paths.length === 1 ? 'this file' : `these ${paths.length} files`}?`, signal)
    if (agreed === undefined)
      throw new LocalRefusal(
        'This removal needs a confirmation, and there is no terminal. Add --yes to remove these files, or --dry-run to check first. Nothing was changed.',
      )
    return agreed
  }

const checkFolder = async (directory: string): Promise<void> => {
  if (directory === '') throw new UsageError('Name a local folder, such as "." for the current folder.')
  const info = await stat(directory).catch(() => undefined)
  if (info && !info.isDirectory())
    throw new LocalRefusal(`"${directory}" is not a folder. Name a folder, or use "get" and "put" for one file.`)
}

const run = async (
  direction: Direction,
  context: Context,
  directory: string,
  path: string,
  flags: SyncFlags,
  onEvent?: (event: SyncEvent) => void,
): Promise<EndEvent> => {
  const printer = printerFor(context, direction, flags)
  const options = {
    client: context.client,
    directory,
    folder: sitePath(path),
    all: flags.all ?? false,
    removes: flags.delete ?? false,
    force: flags.force ?? false,
    mine: (flags.mine ?? []).map(sitePath),
    theirs: (flags.theirs ?? []).map(sitePath),
    dryRun: flags.dryRun ?? false,
    signal: context.signal,
    ...(!flags.yes && { confirm: confirmWith(context, printer) }),
    onEvent(event: SyncEvent) {
      printer.print(event)
      onEvent?.(event)
    },
  }
  try {
    return await (direction === 'push' ? push(options) : pull(options))
  } finally {
    printer.clear()
  }
}

export const synchronise = async (
  direction: Direction,
  context: Context,
  directory: string,
  path: string,
  flags: SyncFlags,
): Promise<number> => {
  await checkFolder(directory)
  const differing: string[] = []
  const note = (event: SyncEvent) => {
    if (event.event !== 'step' || ('inTheWay' in event && event.inTheWay)) return
    const isNewer = event.action === 'keep' && event.why === 'newer'
    if (event.action === 'replace' || event.action === 'conflict' || isNewer) differing.push(event.path)
  }
  const end = await run(direction, context, directory, path, flags, note)
  if (flags.content) for (const each of differing) await printDifference(context, directory, sitePath(path), each)
  return statusOf(end)
}

// In milliseconds: the pause after the last change before a push, because editors write a file several times.
const quiet = 200

// In milliseconds: the longest time from a change to its push, because a program may write without a pause.
const longestWait = 5000

// In milliseconds: the first pause before a failed push is repeated. Each consecutive failure doubles the pause.
const firstRetry = 1000
const longestRetry = 60_000

// In milliseconds: the time between two pushes if the system cannot watch the whole folder, and between two looks for a
// folder that is gone.
const pollInterval = 5000
const lookInterval = 1000

const isThere = async (directory: string): Promise<boolean> =>
  (await stat(directory).catch(() => undefined))?.isDirectory() ?? false

const announceWatch = (context: Context, directory: string): void =>
  tell(context, { event: 'watching', directory }, `Watching ${directory}. Press Ctrl+C to stop.`)

const isWatchLimit = (error: unknown): boolean => ['ENOSPC', 'EMFILE', 'ENFILE'].includes(Object(error).code)

/**
 * Returns a function that waits until no file has changed for `quiet` milliseconds after a change, at most `longestWait`
 * milliseconds after it, and at most `longest` milliseconds. If the folder is gone, it also waits for the folder. It
 * rejects with the reason of the signal.
 */
const createChanges = (context: Context, directory: string, signal: AbortSignal) => {
  let wake = () => {}
  let hasChanged = false
  let timer: NodeJS.Timeout | undefined
  let unsentSince: number | undefined
  let isWatched = true
  const change = () => {
    unsentSince = undefined
    hasChanged = true
    wake()
  }
  const onChange = (path: string) => {
    if (isInStateFolder(path)) return
    const now = performance.now()
    unsentSince ??= now
    clearTimeout(timer)
    timer = setTimeout(change, Math.min(quiet, unsentSince + longestWait - now))
  }
  const onError = (error: unknown) => {
    if (!isWatched || !isWatchLimit(error)) return
    isWatched = false
    const sentence =
      `This machine cannot watch so many folders, so it checks them every ${spanOf(pollInterval)}. On Linux, raise ` +
      'fs.inotify.max_user_watches and fs.inotify.max_user_instances.'
    tell(context, { event: 'polling', delay: pollInterval }, sentence)
    change()
  }
  let watching = new AbortController()
  let isRootKept = true
  const begin = () => {
    watching.abort()
    watching = new AbortController()
    isRootKept = true
    const onRootChange = () => {
      isRootKept = false
    }
    watchFolder(directory, AbortSignal.any([signal, watching.signal]), { onChange, onError, onRootChange })
  }
  const awaitFolder = async (): Promise<void> => {
    tell(context, { event: 'gone', directory }, `${directory} is gone. Waiting until it is there again.`)
    while (!(await isThere(directory))) await pause(lookInterval, signal)
    announceWatch(context, directory)
  }
  const nextChange = (longest: number) =>
    new Promise<void>((resolve, reject) => {
      const most = isWatched ? longest : Math.min(longest, pollInterval)
      const over = most === Number.POSITIVE_INFINITY ? undefined : setTimeout(change, most)
      const stop = () => {
        clearTimeout(over)
        reject(signal.reason)
      }
      wake = () => {
        if (!hasChanged) return
        hasChanged = false
        wake = () => {}
        clearTimeout(over)
        signal.removeEventListener('abort', stop)
        resolve()
      }
      if (signal.aborted) stop()
      else signal.addEventListener('abort', stop, { once: true })
      wake()
    })
  begin()
  return async (longest = Number.POSITIVE_INFINITY): Promise<void> => {
    await nextChange(longest)
    const isGone = !(await isThere(directory))
    if (isGone) await awaitFolder()
    if (isGone || !isRootKept) begin()
  }
}

interface Outcome extends Pick<EndEvent, 'interrupted' | 'failed'> {
  /** True if a local failure ended the push. */
  readonly isRefused?: boolean
}

/** Returns a function that gives the pause before a failed push is repeated. */
const createRetries = (context: Context) => {
  let failures = 0
  return ({ failed, isRefused }: Outcome): number | undefined => {
    if (failed > 0) {
      const delay = Math.min(longestRetry, firstRetry * 2 ** failures++)
      tell(context, { event: 'retry', delay }, `Trying again in ${spanOf(delay)}.`)
      return delay
    }
    if (isRefused) return undefined
    if (failures > 0) tell(context, { event: 'recovered' }, 'The push has succeeded again.')
    failures = 0
    return undefined
  }
}

/**
 * After a failure of the service, the command repeats the push, unless the token or a right is missing. After a local
 * failure, it waits for the next change.
 */
const failedPush = async (error: unknown, { signal, json }: Context, directory: string): Promise<Outcome> => {
  const isOfService = error instanceof ServiceError
  const isExpected = isOfService || error instanceof LocalRefusal
  if (signal.aborted || isAccessRefusal(error) || (!isExpected && (await isThere(directory)))) throw error
  if (isExpected) report(error, json)
  return { interrupted: false, failed: isOfService ? 1 : 0, isRefused: !isOfService }
}

const pushAfterChanges = async (
  context: Context,
  directory: string,
  changed: ReturnType<typeof createChanges>,
  send: () => Promise<Outcome>,
): Promise<number> => {
  const pauseAfter = createRetries(context)
  let end = await send()
  if (!end.interrupted) announceWatch(context, directory)
  for (; ; end = await send().catch((error) => failedPush(error, context, directory))) {
    if (end.interrupted) return exitStatus.failed
    try {
      await changed(pauseAfter(end))
    } catch (error) {
      if (context.signal.aborted) return exitStatus.done
      throw error
    }
  }
}

/**
 * Pushes at the start and after every change, until Ctrl+C, and prints changes that others make on the site. After a
 * failure of the service or the network, repeats the push after a pause. After a local failure, waits for the next
 * change, or for the folder. Ends if the first push fails, if the service refuses the token, or if the folder cannot be
 * read.
 */
export const watch = async (context: Context, directory: string, path: string, flags: SyncFlags): Promise<number> => {
  await checkFolder(directory)
  const over = new AbortController()
  const signal = AbortSignal.any([context.signal, over.signal])
  const reporting = reportChanges(context, sitePath(path), signal).catch((error) => over.abort(error))
  try {
    return await pushAfterChanges(context, directory, createChanges(context, directory, signal), () =>
      run('push', context, directory, path, flags),
    )
  } finally {
    over.abort()
    await reporting
  }
}
