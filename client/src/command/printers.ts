import type { SyncEvent } from '../sync/events.ts'
import type { KeptWhy, Side } from '../sync/plan.ts'
import type { Direction } from '../sync/prepare.ts'
import { escapeControls, jsonOf, sizeOf, spanOf } from './format-text.ts'
import { writeOut } from './output.ts'

/** Prints the events of a push or a pull. `clear` removes the progress line before other output. */
export interface Printer {
  print(event: SyncEvent): void
  clear(): void
}

export const createJsonPrinter = (): Printer => ({
  print: (event) => writeOut(`${jsonOf(event)}\n`),
  clear: () => {},
})

const count = (number: number, what: string): string => `${number} ${what}`
const parts = (...texts: readonly (string | false)[]): string => texts.filter((text) => text !== false).join(', ')

const inWords: Readonly<Record<string, string>> = {
  create: 'create',
  replace: 'replace',
  remove: 'remove',
  conflict: 'CONFLICT (changed on both sides, or never synchronised)',
  newer: 'left unchanged (changed only on the target)',
  extra: 'left unchanged (only on the target)',
  stays: 'left unchanged (only on the target)',
}
const past = { create: 'created', replace: 'replaced', remove: 'removed' } as const

const sideOf = (side: Side | undefined): string => (side ? parts(sizeOf(side.size), side.modified ?? false) : 'no file')

const planned = (event: Extract<SyncEvent, { event: 'plan' }>): string =>
  'To do: ' +
  `${parts(
    count(event.create, 'to create'),
    `${count(event.replace, 'to replace')} (${sizeOf(event.bytes)} in all)`,
    `${count(event.remove, 'to remove')} (${sizeOf(event.removedBytes)})`,
  )}; ` +
  `${parts(
    count(event.keep, 'unchanged'),
    event.conflict > 0 && count(event.conflict, 'in conflict'),
    event.ignored > 0 && count(event.ignored, 'ignored (--all includes them)'),
  )}.`

const lineOf = (event: SyncEvent): string | undefined => {
  switch (event.event) {
    case 'plan':
      return planned(event)
    case 'skipped':
      return `skipped  ${event.path}: ${event.why}`
    case 'step': {
      if (event.action === 'conflict' && event.inTheWay)
        return (
          `CONFLICT (the ${event.inTheWay.type} ${event.inTheWay.path} is in the way)  ${event.path}  ` +
          `${sizeOf(event.size)}`
        )
      if (event.action === 'conflict')
        return `${inWords['conflict']}  ${event.path}  here ${sideOf(event.here)}; on the site ${sideOf(event.there)}`
      const word = inWords[event.action === 'keep' ? event.why : event.action]
      return `${word}  ${event.path}  ${sizeOf(event.size)}`
    }
    case 'conflict':
      return `CONFLICT  ${event.path}: ${event.why}`
    case 'failed':
      return `failed  ${event.path}: ${event.message}`
    case 'done':
      return `${past[event.action]}  ${event.path}`
    default:
      return undefined
  }
}

const isKept = (event: SyncEvent, why: KeptWhy): boolean =>
  event.event === 'step' && event.action === 'keep' && event.why === why

const isBlocked = (event: SyncEvent): boolean =>
  event.event === 'step' && event.action === 'conflict' && event.inTheWay !== undefined

export interface Asked {
  readonly direction?: Direction
  readonly isPlanOnly?: boolean
  readonly removes?: boolean
}

/**
 * The numbers of files that a run did not change: files that `--force` would overwrite (without the conflicts), files
 * with an obstacle, and files that `--delete` would remove.
 */
interface LeftAlone {
  newer: number
  blocked: number
  explained: number
  extra: number
}

const countIn = (left: LeftAlone, event: SyncEvent): void => {
  left.newer += Number(isKept(event, 'newer'))
  left.extra += Number(isKept(event, 'extra'))
  left.blocked += Number(isBlocked(event))
  left.explained += Number(event.event === 'conflict')
}

const adviceOn = (
  { conflict, failed }: Extract<SyncEvent, { event: 'end' }>,
  { newer, blocked, explained, extra }: LeftAlone,
  { direction = 'push', removes = false }: Asked,
): string => {
  const others = ` and the files that changed only on the target (${newer}). Transfer these files first`
  const force =
    ' Files in conflict were not changed. Compare both sides with "diff --content". For single paths, choose a side with ' +
    `--mine PATH or --theirs PATH, or add --force to overwrite all conflicts${newer > 0 ? others : ''}.`
  const remove = removes
    ? ' --delete keeps an obstacle that has changed, and all obstacles if a file could not be read.'
    : ' Add --delete to remove obstacles, and all files that are only on the target. --dry-run lists them first.'
  const only =
    ` ${extra} ${extra === 1 ? 'file is' : 'files are'} only on ${direction === 'push' ? 'the site' : 'this machine'}; ` +
    `--delete removes ${extra === 1 ? 'it' : 'them'}.`
  const isOffered = !removes && extra > 0 && blocked === 0 && failed === 0
  return `${conflict > blocked + explained ? force : ''}${blocked > 0 ? remove : ''}${isOffered ? only : ''}`
}

const summary = (event: Extract<SyncEvent, { event: 'end' }>, left: LeftAlone, asked: Asked): string => {
  const advice = adviceOn(event, left, asked)
  if (asked.isPlanOnly) return `Nothing was changed.${advice}`
  const done = parts(
    count(event.create, 'created'),
    count(event.replace, 'replaced'),
    count(event.remove, 'removed'),
    event.failed > 0 && count(event.failed, 'failed'),
    event.conflict > 0 && count(event.conflict, 'in conflict'),
    event.skipped > 0 && count(event.skipped, 'skipped'),
  )
  return (
    `${event.interrupted ? 'Stopped' : 'Done'}: ` +
    `${done}.${advice}${event.interrupted ? ' Repeat the command to continue.' : ''}`
  )
}

const refreshMilliseconds = 100

const terminals = () => ({ out: process.stdout.isTTY === true, error: process.stderr.isTTY === true })

/**
 * Prints text: on a terminal a progress line, elsewhere one line per file. Lists are printed to standard output,
 * everything else to standard error.
 */
export const createTextPrinter = (asked: Asked = {}, isTerminal = terminals()): Printer => {
  const started = performance.now()
  let written = Number.NEGATIVE_INFINITY
  let isLive = false
  const left: LeftAlone = { newer: 0, blocked: 0, explained: 0, extra: 0 }
  const skipped: string[] = []

  const clear = () => {
    if (isLive) process.stderr.write('\r\u001b[K')
    isLive = false
  }
  const say = (line: string) => {
    clear()
    process.stderr.write(`${escapeControls(line)}\n`)
  }
  const live = ({ files, totalFiles, bytes, totalBytes }: Extract<SyncEvent, { event: 'progress' }>) => {
    const now = performance.now()
    if (!isTerminal.error || (now - written < refreshMilliseconds && files < totalFiles)) return
    written = now
    const rate = bytes / Math.max(1, now - started)
    const rest = rate > 0 && bytes < totalBytes ? `, ${spanOf((totalBytes - bytes) / rate)} left` : ''
    const size = `${sizeOf(bytes)} of ${sizeOf(totalBytes)}`
    const line = `${files} of ${totalFiles} files, ${size}, ${sizeOf(rate * 1000)}/s${rest}`
    process.stderr.write(`\r${line.slice(0, (process.stderr.columns ?? 80) - 1)}\u001b[K`)
    isLive = true
  }

  return {
    clear,
    print(event) {
      if (event.event === 'progress') return live(event)
      if (event.event === 'end') return [...skipped, summary(event, left, asked)].forEach((each) => void say(each))
      countIn(left, event)
      // On a terminal the progress line already shows these files. A redirected list contains them.
      if (event.event === 'done' && isTerminal.error && isTerminal.out) return
      const line = lineOf(event)
      if (line === undefined) return
      // Skipped paths are printed with the summary, because many lines may come in between.
      if (event.event === 'skipped') return void skipped.push(line)
      if (event.event !== 'step' && event.event !== 'done') return say(line)
      clear()
      writeOut(`${escapeControls(line)}\n`)
    },
  }
}
