import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'vitest'
import { push } from '../../../client/src/sync/index.ts'
import type { Program } from '../../support/program.ts'
import { asDemo, startSiteFiles } from '../support/command.ts'
import { startProxy } from '../support/proxy.ts'
import { test as base, readSite, readTree, reported, writeTree } from '../support/site.ts'

const count = 80
const many = Object.fromEntries(
  Array.from({ length: count }, (_, index) => [`${index % 10}/${index}.txt`, `text ${index}`]),
)

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: the runner reads from the pattern what a fixture needs
  .extend('programs', async ({}, { onCleanup }) => {
    const programs: Program[] = []
    onCleanup(async () => {
      for (const program of programs) {
        program.kill('SIGKILL')
        await program.ended
      }
    })
    return programs
  })
  .extend('begin', async ({ programs, service }) => (...args: readonly string[]) => {
    const program = startSiteFiles(['--json', ...args], asDemo(service))
    programs.push(program)
    return program
  })

/** Reads events until a number of one kind has arrived. */
const untilEvents = async (program: Program, kind: string, wanted: number): Promise<void> => {
  for (let come = 0; come < wanted; ) if (JSON.parse(await program.line()).event === kind) come++
}

test('a repeated push after a kill does not send finished files again', async ({
  begin,
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory(many)
  const killed = begin('push', here, folder)
  await untilEvents(killed, 'done', 10)
  killed.kill('SIGKILL')
  await killed.ended
  const stored = Object.keys(await readSite(client, folder)).length
  expect(stored).toBeGreaterThanOrEqual(10)
  expect(stored).toBeLessThan(count)
  const { end } = await reported(push, { client, directory: here, folder })
  expect(end).toMatchObject({ keep: stored, create: count - stored, failed: 0, conflict: 0 })
  expect(await readSite(client, folder)).toStrictEqual(await readTree(here))
})

test('Ctrl+C ends a push cleanly, with advice on how to continue', async ({ begin, client, folder, makeDirectory }) => {
  const here = await makeDirectory(many)
  const stopped = begin('push', here, folder)
  await untilEvents(stopped, 'done', 10)
  stopped.kill('SIGINT')
  const { status, stderr, stdout } = await stopped.ended
  expect(status).toBe(1)
  expect(stderr).not.toMatch(/\n {4}at /)
  const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  expect(last).toMatchObject({ event: 'end', interrupted: true, failed: 0, conflict: 0 })
  const { end } = await reported(push, { client, directory: here, folder })
  expect(end).toMatchObject({ failed: 0, conflict: 0 })
  expect(end.keep).toBeGreaterThanOrEqual(last.create)
  expect(await readSite(client, folder)).toStrictEqual(await readTree(here))
})

test('Ctrl+C ends a command that waits for a silent service', async ({ programs }) => {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const silent = createServer(() => resolve()).listen(0, '127.0.0.1')
  try {
    await once(silent, 'listening')
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const waiting = startSiteFiles(['ls'], { SITE_ADMIN_URL: url, SITE_ADMIN_TOKEN: 'token' })
    programs.push(waiting)
    await asked
    waiting.kill('SIGINT')
    const { status, stderr } = await waiting.ended
    expect({ status, stderr }).toStrictEqual({ status: 1, stderr: expect.stringContaining('Stopped.') })
  } finally {
    silent.closeAllConnections()
    silent.close()
  }
})

test('watch pushes after every change until Ctrl+C, which has status 1 in the middle of a push (T-44)', async ({
  begin,
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'a.txt': 'one' })
  const watching = begin('watch', here, folder)
  await untilEvents(watching, 'end', 1)
  // The move is atomic: one change, one push.
  await writeFile(`${here}.b`, 'two')
  await rename(`${here}.b`, join(here, 'b.txt'))
  await untilEvents(watching, 'end', 1)
  expect(await readSite(client, folder)).toStrictEqual({ 'a.txt': 'one', 'b.txt': 'two' })
  watching.kill('SIGINT')
  expect((await watching.ended).status).toBe(0)
  await writeTree(here, many)
  const sending = begin('watch', here, folder)
  await untilEvents(sending, 'done', 10)
  sending.kill('SIGINT')
  expect((await sending.ended).status).toBe(1)
})

test.for(['.SITE-FILES', 'sub/.site-files'])(
  'writes below %s, as by a run there, do not delay a watched folder',
  async (state, { begin, client, folder, makeDirectory }) => {
    const here = await makeDirectory({ 'a.txt': 'one', [`${state}/files.json`]: '0' })
    const watching = begin('watch', here, folder)
    await untilEvents(watching, 'end', 1)
    let writes = 0
    const writing = setInterval(() => writeFileSync(join(here, state, 'files.json'), String(writes++)), 10)
    try {
      await writeTree(here, { 'b.txt': 'two' })
      await expect.poll(() => readSite(client, folder)).toStrictEqual({ 'a.txt': 'one', 'b.txt': 'two' })
    } finally {
      clearInterval(writing)
    }
  },
)

test('watch retries a failed push without a further change', async ({
  programs,
  service,
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'a.txt': 'one', 'b.txt': 'two' })
  let refused = 0
  const proxy = await startProxy(service.baseUrl, (method, path) =>
    method === 'PUT' && path.includes('b.txt') && refused++ < 2 ? 413 : 'pass',
  )
  try {
    const settings = { ...asDemo(service), SITE_ADMIN_URL: proxy.url }
    const watching = startSiteFiles(['--json', 'watch', here, folder], settings)
    programs.push(watching)
    await untilEvents(watching, 'end', 3)
    expect(refused).toBe(3)
    expect(await readSite(client, folder)).toStrictEqual({ 'a.txt': 'one', 'b.txt': 'two' })
    watching.kill('SIGINT')
    expect((await watching.ended).status).toBe(0)
  } finally {
    await proxy.stop()
  }
})

test('watch ends if its first push fails, or if the folder disappears', async ({
  begin,
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'a.txt': 'one' })
  await client.files.put(`${folder}/file.txt`, 'a file')
  const refused = begin('watch', here, `${folder}/file.txt`)
  expect(await refused.ended).toMatchObject({ status: 1, stderr: expect.stringContaining('is a file of the site') })
  const watching = begin('watch', here, folder)
  await untilEvents(watching, 'end', 1)
  await rename(here, `${here}.gone`)
  expect(await watching.ended).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('This file or folder does not exist'),
  })
  await rename(`${here}.gone`, here)
})
