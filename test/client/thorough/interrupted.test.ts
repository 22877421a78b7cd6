import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { administerJson } from '../../support/administration.ts'
import { messages } from '../../support/messages.ts'
import type { Program } from '../../support/program.ts'
import { asDemo, eventsIn, outcome, startSiteFiles } from '../support/command.ts'
import { test as base, readTree, writeTree } from '../support/site.ts'

const count = 80
const many = Object.fromEntries(
  Array.from({ length: count }, (_, index) => [`${index % 10}/${index}.txt`, `text ${index}`]),
)

const test = base.extend('begin', ({ service, onTestFinished }) => {
  /** Starts site-files, with the address of the service or with another address. */
  return (args: readonly string[], baseUrl = service.baseUrl, token = service.token) => {
    const program = startSiteFiles(['--json', ...args], asDemo({ baseUrl, token }))
    onTestFinished(async () => {
      program.kill('SIGKILL')
      await program.ended
    })
    return program
  }
})

/** Reads events until the given number of one kind has arrived. */
const untilEvents = async (program: Program, kind: string, wanted: number): Promise<void> => {
  for (let come = 0; come < wanted; ) if (JSON.parse(await program.line()).event === kind) come++
}

test.for(['SIGKILL', 'SIGINT', 'SIGHUP'] as const)(
  'a push that %s ends is continued by the next push',
  async (signal, { begin, folder, makeDirectory, site }) => {
    const here = await makeDirectory(many)
    const stopped = begin(['push', here, folder])
    await untilEvents(stopped, 'done', 10)
    stopped.kill(signal)
    const { status, stderr, stdout } = await stopped.ended
    if (signal !== 'SIGKILL') {
      expect(status).toBe(1)
      expect(stderr).not.toMatch(/\n {4}at /)
      expect(eventsIn(stdout).at(-1)).toMatchObject({ event: 'end', interrupted: true, failed: 0, conflict: 0 })
    }
    const stored = Object.keys(await site.texts()).length
    expect(stored).toBeGreaterThanOrEqual(10)
    const end = await site.push(here)
    expect(end).toMatchObject({ keep: stored, create: count - stored, failed: 0, conflict: 0 })
    expect(await site.texts()).toStrictEqual(await readTree(here))
  },
)

test.concurrent('a push survives a restart (T-42)', async ({ expect, begin, folder, makeDirectory, proxied, site }) => {
  const here = await makeDirectory({ 'a.txt': 'one' })
  let lost = 0
  const baseUrl = await proxied((method) => (method === 'PUT' && lost++ < 6 ? 'cut before' : 'pass'))
  const { status, stdout } = await begin(['push', here, folder], baseUrl).ended
  expect([status, lost]).toEqual([0, 7])
  expect(eventsIn(stdout).at(-1)).toMatchObject({ event: 'end', create: 1, failed: 0, conflict: 0 })
  expect(await site.texts()).toStrictEqual({ 'a.txt': 'one' })
})

test.concurrent('watch pushes beside a busy file (T-44)', async ({ expect, begin, folder, makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'one' })
  const watching = begin(['watch', here, folder])
  await untilEvents(watching, 'watching', 1)
  using _ = writeWithoutPause(join(here, 'busy.log'))
  await writeTree(here, { 'b.txt': 'two' })
  await expect.poll(() => site.texts(), { timeout: 30_000 }).toMatchObject({ 'a.txt': 'one', 'b.txt': 'two' })
})

test.concurrent('watch repeats and reports a failed push (T-56)', async ({
  expect,
  begin,
  proxied,
  folder,
  makeDirectory,
  site,
}) => {
  const here = await makeDirectory({ 'a.txt': 'one', 'b.txt': 'two' })
  let refused = 0
  const url = await proxied((method, path) => {
    const isPush = refused === 0 ? method === 'PUT' && path.includes('b.txt') : path.includes('recursive')
    return isPush && refused < 2 ? (refused++ === 0 ? 413 : 500) : 'pass'
  })
  const watching = begin(['watch', here, folder], url)
  await untilEvents(watching, 'recovered', 1)
  expect(refused).toBe(2)
  expect(await site.texts()).toStrictEqual({ 'a.txt': 'one', 'b.txt': 'two' })
  watching.kill('SIGINT')
  const { status, stdout } = await watching.ended
  expect(status).toBe(0)
  const reported = eventsIn(stdout).filter(({ event }) => ['watching', 'retry', 'recovered'].includes(event))
  expect(reported).toEqual([
    { event: 'watching', directory: here },
    { event: 'retry', delay: 1000 },
    { event: 'retry', delay: 2000 },
    { event: 'recovered' },
  ])
})

test.concurrent('watch pushes a change made during a push (T-44)', async ({
  expect,
  begin,
  proxied,
  folder,
  makeDirectory,
  site,
}) => {
  const here = await makeDirectory({ 'a.txt': 'one' })
  let isDelayed = false
  const url = await proxied((method, path) => {
    if (isDelayed || method !== 'PUT' || !path.includes('b.txt')) return 'pass'
    isDelayed = true
    writeFileSync(join(here, 'c.txt'), 'three')
    return 'later'
  })
  const watching = begin(['watch', here, folder], url)
  await untilEvents(watching, 'watching', 1)
  await writeTree(here, { 'b.txt': 'two' })
  await expect.poll(() => site.texts(), { timeout: 30_000 }).toMatchObject({ 'b.txt': 'two', 'c.txt': 'three' })
})

test.concurrent('watch reports a success only after a push without refusal (T-56)', async ({
  expect,
  begin,
  proxied,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'a.txt': 'one' })
  let isRefused = false
  const url = await proxied((method) => {
    if (isRefused || method !== 'PUT') return 'pass'
    isRefused = true
    mkdirSync(join(here, 'News'))
    mkdirSync(join(here, 'news'))
    for (const name of ['News/x.txt', 'news/y.txt']) writeFileSync(join(here, name), 'two')
    return 413
  })
  const watching = begin(['watch', here, folder], url)
  await untilEvents(watching, 'retry', 1)
  const refusal = JSON.parse(await watching.errorLine())
  await rm(join(here, 'News'), { recursive: true })
  await untilEvents(watching, 'end', 1)
  expect(refusal.message).toContain('would be two folders')
  expect(JSON.parse(await watching.line())).toEqual({ event: 'recovered' })
})

test('watch pushes after each change, and reports those of others (T-44, T-66)', async ({
  begin,
  client,
  folder,
  makeDirectory,
  site,
}) => {
  const here = await makeDirectory({ 'a.txt': 'one' })
  await site.put('by-others.txt', 'x')
  const watching = begin(['watch', here, folder.toUpperCase()])
  await untilEvents(watching, 'end', 1)
  // The move is atomic: one change causes one push.
  await writeFile(`${here}.b`, 'two')
  await rename(`${here}.b`, join(here, 'b.txt'))
  await untilEvents(watching, 'end', 1)
  expect(await site.texts()).toStrictEqual({ 'a.txt': 'one', 'b.txt': 'two', 'by-others.txt': 'x' })
  await client.files.put('elsewhere.txt', 'x', { replace: true })
  await site.put('by-others.txt', 'y', { replace: true })
  await untilEvents(watching, 'changed', 1)
  watching.kill('SIGINT')
  const { status, stdout } = await watching.ended
  expect(status).toBe(0)
  const changed = eventsIn(stdout).filter(({ event }) => event === 'changed')
  expect(changed).toMatchObject([{ type: 'file.stored', subject: `${folder}/by-others.txt` }])
  await writeTree(here, many)
  const sending = begin(['watch', here, folder])
  await untilEvents(sending, 'done', 10)
  sending.kill('SIGINT')
  expect((await sending.ended).status).toBe(1)
})

const writeWithoutPause = (path: string): Disposable => {
  let writes = 0
  const writing = setInterval(() => writeFileSync(path, String(writes++)), 10)
  return { [Symbol.dispose]: () => clearInterval(writing) }
}

const states = ['.SITE-FILES', 'sub/.site-files']
test.for(states)(
  'watch pushes without delay while files below %s change',
  async (state, { begin, folder, makeDirectory, site }) => {
    const here = await makeDirectory({ 'a.txt': 'one', [`${state}/files.json`]: '0' })
    const watching = begin(['watch', here, folder])
    await untilEvents(watching, 'end', 1)
    using _ = writeWithoutPause(join(here, state, 'files.json'))
    await writeTree(here, { 'b.txt': 'two' })
    await expect.poll(() => site.texts()).toStrictEqual({ 'a.txt': 'one', 'b.txt': 'two' })
  },
)

test('watch notices changes of a replaced file or folder (T-44)', async ({ begin, folder, makeDirectory, site }) => {
  const [here, replacement] = [await makeDirectory({ 'sub/a.txt': 'one' }), await makeDirectory({ 'a.txt': 'two' })]
  const watching = begin(['watch', here, folder])
  await untilEvents(watching, 'watching', 1)
  const file = join(here, 'sub/a.txt')
  const changes = [
    () => rename(join(replacement, 'a.txt'), file),
    () => writeFile(file, 'three'),
    () => rename(join(here, 'sub'), join(replacement, 'sub')),
    () => rename(join(replacement, 'sub'), join(here, 'sub')),
    () => writeFile(file, 'four'),
  ]
  for (const change of changes) {
    await change()
    await untilEvents(watching, 'end', 1)
  }
  expect(await site.texts()).toStrictEqual({ 'sub/a.txt': 'four' })
})

test('watch ends when its token is revoked (T-56)', async ({ begin, folder, makeDirectory, proxied, service }) => {
  const issue = ['token', 'issue', '--user', 'ann', '--site', '1001', '--permission', 'files']
  const { token } = await administerJson(service.directory, issue)
  const here = await makeDirectory({ 'a.txt': 'one' })
  const watching = begin(['watch', here, folder], service.baseUrl, token)
  await untilEvents(watching, 'watching', 1)
  await fetch(`${service.baseUrl}/api/v2/admin/tokens`, { method: 'DELETE', headers: { Authorization: token } })
  await writeTree(here, { 'b.txt': 'two' })
  expect(await watching.ended).toMatchObject(outcome(1, '"code":101000'))
  const url = await proxied((_, path) => (path.includes('/changes') ? 401 : 'pass'))
  expect(await begin(['watch', here, folder], url).ended).toMatchObject({ status: 1 })
})

test('watch ends if the first push fails', async ({ begin, folder, makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'one' })
  await site.put('file.txt', 'a file')
  const refused = begin(['watch', here, `${folder}/file.txt`])
  expect(await refused.ended).toMatchObject(outcome(1, messages.client.isFile))
})

test('watch goes on when its folder is there again (T-56)', async ({ begin, folder, makeDirectory, proxied, site }) => {
  const [here, other] = [await makeDirectory({ 'a.txt': '' }), await makeDirectory({ 'b.txt': '' })]
  const gone = `${here}.gone`
  let isPushing = false
  const url = await proxied((_, path) => {
    if (isPushing && path.includes('recursive')) renameSync(here, gone)
    isPushing &&= !path.includes('recursive')
    return 'pass'
  })
  const leaveInPush = () => {
    isPushing = true
    return writeTree(here, { 'in-push.txt': '' })
  }
  const watching = begin(['watch', here, folder], url)
  await untilEvents(watching, 'watching', 1)
  for (const leave of [leaveInPush, () => rename(here, gone)]) {
    await leave()
    await untilEvents(watching, 'gone', 1)
    await rename(gone, here)
    await untilEvents(watching, 'watching', 1)
    await untilEvents(watching, 'end', 1)
  }
  // Now another folder is there at once.
  renameSync(here, gone)
  renameSync(other, here)
  await untilEvents(watching, 'end', 1)
  await writeTree(here, { 'c.txt': '' })
  const all = { 'a.txt': '', 'b.txt': '', 'c.txt': '', 'in-push.txt': '' }
  await expect.poll(() => site.texts()).toEqual(all)
  renameSync(gone, other)
})
