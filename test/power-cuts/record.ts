import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, realpathSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { launch, type Outcome, type Program } from '../support/program.ts'
import { requestsTo } from '../support/spawned-service.ts'
import type { Expected } from './lanes.ts'

/** The reason why recording is impossible here. Undefined if it is possible. */
export const noRecorder = ((): string | undefined => {
  if (process.platform !== 'linux') return 'they need Linux'
  const report: { header?: { glibcVersionRuntime?: string } } = { ...process.report?.getReport() }
  if (report.header?.glibcVersionRuntime === undefined) return 'they need the C library glibc'
  try {
    for (const command of ['cc', 'flock']) execFileSync(command, ['--version'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'they need a C compiler (cc) and flock'
  }
})()
if (noRecorder !== undefined) console.warn(`NOT RUN: power cuts (${noRecorder}).`)

const compileRecorder = (folder: string): string => {
  const [source, library] = [join(import.meta.dirname, 'recorder.c'), join(folder, 'recorder.so')]
  execFileSync('cc', ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl', '-lpthread'])
  return library
}

const headSize = 24
const markKind = 'M'

/** One record of the log: a call for a file, or a mark. */
export interface Entry {
  readonly kind: string
  /** The inode. */
  readonly file: number
  readonly at: number
  readonly bytes: Buffer
}

export const readLog = (path: string): readonly Entry[] => {
  const log = readFileSync(path)
  const entries: Entry[] = []
  for (let begin = 0; begin < log.length; ) {
    const size = log.readUInt32LE(begin)
    const kind = String.fromCharCode(log.readUInt32LE(begin + 4))
    const [file, at] = [Number(log.readBigUInt64LE(begin + 8)), Number(log.readBigUInt64LE(begin + 16))]
    entries.push({ kind, file, at, bytes: log.subarray(begin + headSize, begin + size) })
    begin += size
  }
  return entries
}

/** Notes of the workload between the records: starts and ends of the service, and each request and answer of a lane. */
export type Mark =
  | { readonly event: 'starting' | 'ready' | 'stopping' | 'stopped' | 'killed'; readonly token?: string }
  | (Expected<unknown> & { readonly lane: string })

export const markOf = ({ kind, bytes }: Entry): Mark | undefined =>
  kind === markKind ? JSON.parse(bytes.toString()) : undefined

interface Options {
  readonly folder: string
  readonly source?: string
  readonly environment?: Readonly<Record<string, string>>
}

export const projectFolder = join(import.meta.dirname, '..', '..')

/** Records all calls below `root`, which is empty at first. */
export const beginRecording = ({ folder, source = projectFolder, environment = {} }: Options) => {
  mkdirSync(folder, { recursive: true })
  // The recorder compares real paths.
  const [root, log] = [join(realpathSync(folder), 'root'), join(folder, 'log')]
  const data = join(root, 'data')
  mkdirSync(root)
  writeFileSync(log, '')
  const file = openSync(log, 'a')
  const recorder = compileRecorder(folder)
  const preloaded = (clock: number) => ({
    ...environment,
    LD_PRELOAD: recorder,
    POWER_CUTS_ROOT: root,
    POWER_CUTS_LOG: log,
    POWER_CUTS_CLOCK: String(clock),
    // The recorder sees only calls of the C library.
    UV_USE_IO_URING: '0',
  })

  /** Writes the mark in one call, so that records of other processes cannot divide it. */
  const mark = (what: Mark) => {
    const text = Buffer.from(JSON.stringify(what))
    const head = Buffer.alloc(headSize)
    head.writeUInt32LE(headSize + text.length, 0)
    head.writeUInt32LE(markKind.charCodeAt(0), 4)
    writeSync(file, Buffer.concat([head, text]))
  }

  const stop = async (service: Program) => {
    mark({ event: 'stopping' })
    service.kill('SIGTERM')
    await service.ended
    mark({ event: 'stopped' })
  }

  /** Kills the service between two calls, so that every call is recorded. */
  const kill = async (service: Program) => {
    execFileSync('flock', [log, 'kill', '-KILL', String(service.pid)])
    await service.ended
    mark({ event: 'killed' })
  }

  return {
    root,
    log,
    mark,
    /** Starts the service like `npm start`. `clock` is in seconds from now. */
    async serve(clock = 0) {
      mark({ event: 'starting' })
      const args = ['--json', '--quiet', '--port', '0', '--data-dir', data]
      const service = launch(join(source, 'local', 'main.js'), args, preloaded(clock))
      const { baseUrl, token } = JSON.parse(await service.line())
      mark({ event: 'ready', token })
      return { request: requestsTo(baseUrl, token), stop: () => stop(service), kill: () => kill(service) }
    },
    administer(args: readonly string[], input = ''): Promise<Outcome> {
      const program = launch(join(source, 'admin', 'main.js'), ['--data-dir', data, ...args], preloaded(0))
      program.stdin.end(input)
      return program.ended
    },
    close: () => closeSync(file),
  }
}

export type Recording = ReturnType<typeof beginRecording>
