import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Outcome {
  /** The exit status. Null if a signal ended the program. */
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

const nextLine = async (lines: AsyncIterator<string>, ended: Promise<Outcome>): Promise<string> => {
  const { value, done } = await lines.next()
  if (!done) return value
  const { status, stderr } = await ended
  throw new Error(`The program ended with status ${status} before it printed the line: ${stderr}`)
}

const linesOf = (input: Readable): AsyncIterator<string> => createInterface({ input })[Symbol.asyncIterator]()

const launchCommand = (
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  user: { readonly uid?: number; readonly gid?: number } = {},
) => {
  const env = { ...process.env, ...environment }
  const child = spawn(command, args, { cwd: root, stdio: 'pipe', env, ...user })
  const lines = linesOf(child.stdout)
  const errorLines = linesOf(child.stderr)
  // A program may end before it has read all of its input.
  child.stdin.on('error', () => {})
  const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(
    ([[status, signal], stdout, stderr]): Outcome => ({ status, signal, stdout, stderr }),
  )
  return {
    pid: child.pid ?? Number.NaN,
    stdin: child.stdin,
    /** The next lines of standard output. Rejects if the program ends first. */
    line: () => nextLine(lines, ended),
    errorLine: () => nextLine(errorLines, ended),
    kill: (signal: NodeJS.Signals): void => void child.kill(signal),
    ended,
  }
}

export type Program = ReturnType<typeof launchCommand>

/** Runs a source file of the project, such as `local/main.js`, with the Node of the tests. */
export const launch = (
  entry: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Program => launchCommand(process.execPath, [entry, ...args], environment)

/** Runs a source file of the project to its end. The signal ends the process, for example when a test has timed out. */
export const run = (entry: string, args: readonly string[], input = '', signal?: AbortSignal): Promise<Outcome> => {
  const program = launch(entry, args)
  signal?.addEventListener('abort', () => program.kill('SIGKILL'))
  program.stdin.end(input)
  return program.ended
}

/** Starts a line of bash, with `$node` for the Node of the tests, and `$1` and so on for the arguments. */
export const startInShell = (
  line: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Program => launchCommand('bash', ['-c', line, 'bash', ...args], { ...environment, node: process.execPath })

export const runInShell = (line: string, args: readonly string[]): Promise<Outcome> => {
  const program = startInShell(line, args)
  program.stdin.end()
  return program.ended
}

/** A line of bash that runs a command after the reader of its output has closed the pipe. */
export const unread = (command: string): string =>
  `set -o pipefail; { trap '' PIPE; while printf . 2> /dev/null; do :; done; ${command}; } | true`

/** Starts a source file of the project on a pseudo terminal, which merges both outputs. */
export const launchOnTerminal = (entry: string, args: readonly string[]): Program =>
  startInShell('SHELL=$BASH exec script -qec "$(printf "%q " "$node" "$@")" /dev/null', [entry, ...args])

const isOpenToOthers = [root, fileURLToPath(import.meta.url)].every((path) => (statSync(path).mode & 0o004) !== 0)
const isRoot = process.platform === 'linux' && process.getuid?.() === 0
if (isRoot && !isOpenToOthers) {
  console.warn(`NOT RUN: cases of another user, because other users may not read ${root}. Run chmod -R go+rX on it.`)
}

/** The reason why programs cannot run as another user here. Undefined if they can. */
export const noOtherUser: string | undefined =
  isRoot && isOpenToOthers ? undefined : 'only root can run a program as another user, who must be able to read it'

/** Another user, without access to files of root. */
export const otherUser = 65_534

/** The other user may not enter folders of root above the working directory, so paths start in this directory. */
const below = (path: string): string => (isAbsolute(path) ? path : `/proc/self/cwd/${path}`)

/** Runs a source file of the project to its end, as the other user. */
export const runAsOther = (entry: string, args: readonly string[]): Promise<Outcome> => {
  const node = process.execPath.startsWith(root) ? relative(root, process.execPath) : process.execPath
  const keepNames = ['--preserve-symlinks', '--preserve-symlinks-main']
  const user = { uid: otherUser, gid: otherUser }
  const program = launchCommand(below(node), [...keepNames, below(entry), ...args], {}, user)
  program.stdin.end()
  return program.ended
}

/** True if a process has the file open. Only Linux knows. */
export const hasOpen = (pid: number | 'self', file: string): boolean =>
  readdirSync(`/proc/${pid}/fd`).some((name) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${name}`) === file
    } catch {
      // The process closed the file meanwhile.
      return false
    }
  })

/** The message of a refused command. With `--json`, it is a member of the printed object. */
export const sentenceIn = (stderr: string): string => (stderr.startsWith('{') ? JSON.parse(stderr).message : stderr)
