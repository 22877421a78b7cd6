import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, type TestContext } from 'vitest'
import { test } from '../../../support/backups.ts'
import { runInShell, startInShell } from '../../../support/program.ts'

/** A system call: where it begins and ends in the trace, and which file it concerns. */
interface SystemCall {
  readonly name: string
  readonly path: string
  readonly begun: number
  readonly ended: number
}

/** Reads the output of `strace -f -y`. A call that another thread interrupts has two lines. */
const readTrace = (text: string): readonly SystemCall[] => {
  const calls: SystemCall[] = []
  const open = new Map<string, Omit<SystemCall, 'ended'>>()
  for (const [line, content] of text.split('\n').entries()) {
    const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(content) ?? []
    const resumed = open.get(thread)
    if (rest.startsWith('<... ') && resumed) {
      calls.push({ ...resumed, ended: line })
      open.delete(thread)
      continue
    }
    const [, name, file] = /^(\w+)\((?:\d+<([^>]*)>)?/.exec(rest) ?? []
    if (name === undefined) continue
    // A call that names files has the names in quotes. The new name of a renamed file comes last.
    const path = file ?? /.*"([^"]*)"/.exec(rest)?.[1] ?? ''
    if (rest.endsWith('<unfinished ...>')) open.set(thread, { name, path, begun: line })
    else calls.push({ name, path, begun: line, ended: line })
  }
  return calls
}

const flushes = ['fsync', 'fdatasync']
const names = ['mkdir', 'mkdirat', 'openat', 'rename', 'renameat', 'renameat2']
const writes = ['pwrite64', 'pwritev', 'pwritev2', 'write', 'writev']
const traced = [...flushes, ...names, ...writes]

/** The reason why programs cannot be traced here. Undefined if they can. */
const noTracing = ((): string | undefined => {
  try {
    execFileSync('strace', ['-f', '-o', '/dev/null', 'true'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'strace cannot trace programs here'
  }
})()
if (noTracing) console.warn(`NOT RUN: the order in which a file is flushed (${noTracing}).`)

const find = (calls: readonly SystemCall[], from: number, name: RegExp, path: RegExp | string): number => {
  const isIt = (call: SystemCall) =>
    call.begun > from && name.test(call.name) && (typeof path === 'string' ? call.path === path : path.test(call.path))
  return calls.find(isIt)?.ended ?? Number.NaN
}
const sync = /sync$/
const writing = /write/

const options = `-f -y -s 12 -e trace=${traced.join()}`

/** Runs a command of `site-admin` to its end. Returns its system calls. */
const traceCommand = async (directory: string, args: readonly string[]): Promise<readonly SystemCall[]> => {
  const trace = join(directory, 'trace')
  const command = `trace=$1; shift; strace ${options} -o "$trace" "$node" admin/main.js "$@"`
  expect(await runInShell(command, [trace, ...args])).toMatchObject({ status: 0, stderr: '' })
  return readTrace(readFileSync(trace, 'utf8'))
}

describe.skipIf(noTracing)('the order of flushes', () => {
  const startTraced = async (directory: string, data: string, onTestFinished: TestContext['onTestFinished']) => {
    const trace = join(directory, 'trace')
    const command = `exec strace -D ${options} -o "$1" "$node" local/main.js --json --quiet --port 0 --data-dir "$2"`
    const service = startInShell(command, [trace, data])
    const stop = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => {
      service.kill(signal)
      await service.ended
    }
    onTestFinished(() => stop())
    await service.line()
    return { stop, calls: () => readTrace(readFileSync(trace, 'utf8')) }
  }

  test('creating a directory flushes each name, and the marker last (O-20)', async ({ directory, onTestFinished }) => {
    const data = join(directory, 'new', 'data')
    const made = await startTraced(directory, data, onTestFinished)
    await made.stop()
    const first = made.calls()
    const log = find(first, -1, /^openat$/, /\.db-wal$/)
    for (const folder of [dirname(data), data]) {
      expect(find(first, find(first, -1, /^mkdir/, folder), sync, dirname(folder))).toBeLessThan(log)
    }

    const again = await startTraced(directory, data, onTestFinished)
    await again.stop()
    const second = again.calls()
    const opened = find(second, -1, /^openat$/, /\.db-wal$/)
    expect(find(second, opened, sync, data)).toBeLessThan(find(second, -1, /^rename/, join(data, 'running')))
  })

  test('after a crash, the writes of the killed service are flushed first (O-20)', async ({
    directory,
    onTestFinished,
  }) => {
    const data = join(directory, 'data')
    const killed = await startTraced(directory, data, onTestFinished)
    await killed.stop('SIGKILL')
    writeFileSync(join(data, 'blobs', 'orphan'), 'x')
    const { stop, calls: callsOf } = await startTraced(directory, data, onTestFinished)
    await stop()
    const calls = callsOf()
    expect(find(calls, -1, sync, /\.db-wal$/)).toBeLessThan(find(calls, -1, /^rename/, join(data, 'orphans', 'orphan')))
  })

  test('a backup and a restoration flush files and names before the end (O-20)', async ({
    backedUp: { folder, data },
  }) => {
    const target = join(folder, 'traced')
    const backup = await traceCommand(folder, ['--data-dir', data, 'backup', target])
    const moved = find(backup, -1, /^rename/, target)
    const marker = find(backup, -1, /^rename/, /site-admin-backup\.json$/)
    expect(find(backup, -1, sync, /\.unfinished-\w+\/site-admin\.db$/)).toBeLessThan(marker)
    expect(find(backup, -1, sync, /\.unfinished-\w+\/blobs$/)).toBeLessThan(marker)
    expect(find(backup, marker, sync, /\.unfinished-\w+$/)).toBeLessThan(moved)
    expect(find(backup, moved, sync, folder)).toBeLessThan(find(backup, moved, writing, /^(pipe|socket)/))

    const restored = join(folder, 'new', 'restored')
    const restoration = await traceCommand(folder, ['--data-dir', restored, 'restore', target])
    const ready = restoration.findLast(
      ({ name, path }) => name.startsWith('rename') && path === join(restored, 'site-admin.json'),
    )
    if (!ready) throw new Error('The restoration has written no marker')
    for (const path of [join(restored, 'site-admin.db'), join(restored, 'blobs')]) {
      expect(find(restoration, -1, sync, path)).toBeLessThan(ready.begun)
    }
    for (const path of [dirname(restored), restored]) {
      expect(find(restoration, find(restoration, -1, /^mkdir/, path), sync, dirname(path))).toBeLessThan(ready.begun)
    }
    expect(find(restoration, ready.ended, sync, restored)).toBeGreaterThan(ready.ended)
  })
})
