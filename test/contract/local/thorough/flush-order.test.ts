import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { startInShell } from '../../../support/program.ts'
import { test } from '../../../support/test.ts'

/** A system call: where in the trace it began and ended, and the file that it was for. */
interface SystemCall {
  readonly name: string
  readonly path: string
  readonly begun: number
  readonly ended: number
}

/** Reads what `strace -f -y` has written. A call that another thread interrupts takes two lines. */
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
    const [, name, path = ''] = /^(\w+)\((?:\d+<([^>]*)>)?/.exec(rest) ?? []
    if (name === undefined) continue
    if (rest.endsWith('<unfinished ...>')) open.set(thread, { name, path, begun: line })
    else calls.push({ name, path, begun: line, ended: line })
  }
  return calls
}

const traced = ['fsync', 'fdatasync', 'pwrite64', 'pwritev', 'pwritev2', 'write', 'writev', 'sendto', 'sendmsg']

/** Undefined where programs can be traced. */
const noTracing = ((): string | undefined => {
  try {
    execFileSync('strace', ['-f', '-o', '/dev/null', 'true'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'strace cannot trace programs here'
  }
})()
if (noTracing) console.warn(`NOT RUN: the order in which a file is flushed (${noTracing}).`)

describe.skipIf(noTracing)('below the service, a file is on the disk before the change that names it', () => {
  test('for a PUT: bytes, name, row, answer (S-47)', { timeout: 60_000 }, async ({ directory, onTestFinished }) => {
    const trace = join(directory, 'trace')
    const data = join(directory, 'data')
    const command = `exec strace -D -f -y -s 12 -o "$1" -e trace=${traced.join()} "$node" local/main.js --json --quiet --port 0 --data-dir "$2"`
    const service = startInShell(command, [trace, data])
    onTestFinished(async () => {
      service.kill('SIGTERM')
      await service.ended
    })
    const { baseUrl, token } = JSON.parse(await service.line())
    const url = `${baseUrl}/api/v2/admin/sites/current/storage/flushed.bin`
    const before = readFileSync(trace, 'utf8').split('\n').length - 1
    const { status } = await fetch(url, {
      method: 'PUT',
      headers: { Authorization: token },
      body: Buffer.alloc(300_000, 'x'),
    })
    expect(status).toBe(200)
    service.kill('SIGTERM')
    await service.ended

    const calls = readTrace(readFileSync(trace, 'utf8')).filter(({ begun }) => begun >= before)
    const blobs = join(data, 'blobs')
    const isWrite = ({ name }: SystemCall) => name.includes('write')
    const isSync = ({ name }: SystemCall) => name.endsWith('sync')
    const ofBlob = calls.filter(({ path }) => path.startsWith(`${blobs}/`))
    const lastByte = ofBlob.findLast(isWrite)
    if (!lastByte) throw new Error('The service has written no blob')
    const flushed = ofBlob.find((call) => isSync(call) && call.begun > lastByte.ended)
    const named = calls.find((call) => isSync(call) && call.path === blobs)
    const log = calls.filter(({ path, begun }) => path.endsWith('.db-wal') && begun > lastByte.ended)
    const row = log.find(isWrite)
    const committed = log.find((call) => isSync(call) && call.begun > (row?.ended ?? 0))
    const answered = calls.find(
      ({ name, path, begun }) =>
        /^(write|writev|sendto|sendmsg)$/.test(name) && /^(socket|TCP)/.test(path) && begun > lastByte.ended,
    )
    const order = { flushed: flushed?.ended, named: named?.ended, row: row?.begun, committed: committed?.ended }
    expect(order).toEqual({
      flushed: expect.any(Number),
      named: expect.any(Number),
      row: expect.any(Number),
      committed: expect.any(Number),
    })
    expect(flushed?.ended).toBeLessThan(row?.begun ?? 0)
    expect(named?.ended).toBeLessThan(row?.begun ?? 0)
    expect(committed?.ended).toBeLessThan(answered?.begun ?? 0)
  })
})
