import { randomUUID } from 'node:crypto'
import { promises } from 'node:fs'
import { chmod, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { connect, type Files } from '../../client/src/index.ts'
import { messages } from '../support/messages.ts'
import { asDemo, siteFiles } from './support/command.ts'
import { pathsOf, readTree, test, writeTree } from './support/site.ts'

test('the upload of a large file continues after a crash (T-33)', async ({ makeDirectory, site }) => {
  // The file is larger than the buffers of the system.
  const here = await makeDirectory({ 'large.bin': 'x'.repeat(24_000_000) })
  const crash = new AbortController()
  const crashing = site.withPut(() => ({
    signal: crash.signal,
    onProgress: ({ sent }) => sent > 18_000_000 && crash.abort(new Error('crash')),
  }))
  expect(await site.push(here, { client: crashing })).toMatchObject({ failed: 1 })
  const { events, ...end } = await site.push(here)
  expect(end).toMatchObject({ create: 1, failed: 0 })
  expect(events.find(({ event }) => event === 'progress')).toMatchObject({
    bytes: expect.toSatisfy((sent) => sent > 0),
  })
  expect(await site.texts()).toStrictEqual(await readTree(here))
})

test('an upload of a file that changed and changed back begins again (T-33)', async ({ makeDirectory, site }) => {
  const text = { 'large.bin': 'x'.repeat(24_000_000) }
  const here = await makeDirectory(text)
  await utimes(join(here, 'large.bin'), 1, 1)
  const crash = new AbortController()
  const crashing = site.withPut((options) => ({
    signal: crash.signal,
    async onBegun(address) {
      await options?.onBegun?.(address)
      await writeTree(here, { 'large.bin': 'y'.repeat(24_000_000) })
    },
    onProgress: ({ sent }) => sent > 18_000_000 && crash.abort(new Error('crash')),
  }))
  expect(await site.push(here, { client: crashing })).toMatchObject({ failed: 1 })
  await writeTree(here, text)
  await utimes(join(here, 'large.bin'), 1, 1)
  expect(await site.push(here)).toMatchObject({ create: 1, failed: 0 })
  expect(await site.texts()).toStrictEqual(await readTree(here))
})

test.for(['beginning', 'end'])(
  'after a crash at the %s of an upload, a file of someone else is replaced',
  async (when, { client, makeDirectory, site }) => {
    const here = await makeDirectory({ 'large.bin': 'x'.repeat(5_000_000) })
    const put: Files['put'] = async (path, content, options) => {
      const onBegun = async (address: string) => {
        await options?.onBegun?.(address)
        if (when === 'beginning') throw new Error('crash')
      }
      await client.files.put(path, content, { ...options, onBegun })
      throw new Error('crash')
    }
    expect(await site.push(here, { client: site.withFiles({ put }) })).toMatchObject({ failed: 1 })
    await site.put('large.bin', 'theirs', { replace: true })
    expect(await site.push(here, { force: true })).toMatchObject({ replace: 1, failed: 0 })
    expect(await site.texts()).toStrictEqual(await readTree(here))
  },
)

test('a half upload conflicts with a new file; a changed file cancels it', async ({ makeDirectory, service, site }) => {
  let upload = ''
  const here = await makeDirectory({ 'large.bin': 'x'.repeat(5_000_000) })
  const crashing = site.withPut((options) => ({
    async onBegun(address) {
      upload = address
      await options?.onBegun?.(address)
      throw new Error('crash')
    },
  }))
  expect(await site.push(here, { client: crashing })).toMatchObject({ failed: 1 })
  await site.put('large.bin', 'theirs')
  expect(await site.push(here)).toMatchObject({ replace: 0, conflict: 1 })
  expect(await site.texts()).toStrictEqual({ 'large.bin': 'theirs' })
  const headers = { Authorization: service.token, 'Tus-Resumable': '1.0.0' }
  const statusOfUpload = async () => (await fetch(upload, { method: 'HEAD', headers })).status
  expect(await statusOfUpload()).toBe(200)
  await writeTree(here, { 'large.bin': 'y'.repeat(5_000_000) })
  await site.push(here, { dryRun: true })
  expect(await statusOfUpload()).toBe(200)
  await site.push(here)
  expect(await statusOfUpload()).toBe(404)
  const forced = await site.push(here, { force: true })
  expect(forced).toMatchObject({ replace: 1, conflict: 0, failed: 0 })
  expect(await site.texts()).toStrictEqual(await readTree(here))
})

test('a forged state file makes no run remove files of the site (T-43)', async ({
  client,
  folder,
  makeDirectory,
  site,
}) => {
  const here = await makeDirectory({ 'a.txt': 'a' })
  await site.push(here)
  const address = `${client.site.url}/api/v2/admin/sites/${client.site.id}/storage/${encodeURIComponent(folder)}`
  const uploads = [[`${folder}/x`, { address, fingerprint: 'y' }]]
  for (const run of [site.push, site.pull]) {
    for (const name of await readdir(join(here, '.site-files'))) {
      const file = join(here, '.site-files', name)
      await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), uploads }))
    }
    expect(await run(here)).toMatchObject({ failed: 0 })
    expect(await site.texts()).toStrictEqual({ 'a.txt': 'a' })
  }
})

test('a push keeps the upload of an ignored file by push --all (T-48)', async ({ makeDirectory, site }) => {
  const here = await makeDirectory({ '.siteignore': '*.bin', 'large.bin': 'x'.repeat(5_000_000) })
  const interrupted = site.withPut((options) => ({
    async onBegun(address) {
      await options?.onBegun?.(address)
      await site.push(here)
    },
  }))
  expect(await site.push(here, { all: true, client: interrupted })).toMatchObject({ create: 2, failed: 0 })
})

test('a pull keeps modes, and leaves no damaged or partial file', async ({ makeDirectory, site }) => {
  await site.store({ 'a.txt': 'one' })
  const here = await makeDirectory()
  await site.pull(here)
  await site.put('a.txt', 'two', { replace: true })
  const garbling = site.withFiles({ read: async () => new Response('tow') })
  expect(await site.pull(here, { client: garbling })).toMatchObject({ replace: 0, failed: 1 })
  expect(await readTree(here)).toStrictEqual({ 'a.txt': 'one' })
  expect((await readdir(join(here, '.site-files'))).filter((name) => name.endsWith('.part'))).toStrictEqual([])
  await chmod(join(here, 'a.txt'), 0o700)
  expect(await site.pull(here)).toMatchObject({ replace: 1 })
  expect([await readTree(here), (await stat(join(here, 'a.txt'))).mode & 0o777]).toEqual([{ 'a.txt': 'two' }, 0o700])
})

test.for(['link', 'e\u0301'])(
  'a pull does not follow a link to a folder to remove a file: %s',
  async (link, { makeDirectory, site }) => {
    const here = await makeDirectory({ 'a/file.txt': 'text' })
    await symlink('a', join(here, link))
    await site.push(here)
    await site.remove(link)
    const { events, ...end } = await site.pull(here, { removes: true })
    expect(end).toMatchObject({ remove: 0, failed: 1 })
    expect(pathsOf(events, 'failed')).toStrictEqual([`${link.normalize('NFC')}/file.txt`])
    expect(await readFile(join(here, 'a/file.txt'), 'utf8')).toBe('text')
  },
)

test('a pull with --delete removes no file whose name has another Unicode form', async ({ makeDirectory, site }) => {
  const here = await makeDirectory({ 'e\u0301.txt': 'sent', '\u00e9.txt': 'never sent', 'b.txt': 'b' })
  const { events, ...end } = await site.push(here)
  expect([end, pathsOf(events, 'skipped')]).toMatchObject([{ create: 2 }, ['\u00e9.txt']])
  await site.remove('\u00e9.txt')
  expect(await site.pull(here, { removes: true })).toMatchObject({ remove: 1, failed: 0 })
  expect((await readdir(here)).sort()).toStrictEqual(['.site-files', 'b.txt', '\u00e9.txt'])
})

test('a push notices a changed file even if the time of the file was set back', async ({ makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'one' })
  await utimes(join(here, 'a.txt'), 1, 1)
  await site.push(here)
  const state = join(here, '.site-files', 'files.json')
  // Simulates that the scan of the push was an hour later.
  await writeFile(state, (await readFile(state, 'utf8')).replace(/"scanned":\d+/, `"scanned":${Date.now() + 3600_000}`))
  await writeTree(here, { 'a.txt': 'two' })
  await utimes(join(here, 'a.txt'), 1, 1)
  expect(await site.push(here)).toMatchObject({ replace: 1 })
})

test('a push notices a change right after its scan', async ({ client, makeDirectory, site, onTestFinished }) => {
  onTestFinished(() => void vi.useRealTimers())
  const here = await makeDirectory({ 'a.txt': 'one' })
  const file = join(here, 'a.txt')
  // The upload takes an hour.
  const put: Files['put'] = async (...given) => {
    await client.files.put(...given)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3600_000 })
  }
  await site.push(here, { client: site.withFiles({ put }) })
  const before = await stat(file)
  await writeTree(here, { 'a.txt': 'two' })
  const after = await stat(file)
  // On a disk with a coarse clock, the change leaves both times as they were.
  const state = join(here, '.site-files', 'files.json')
  const remembered = (await readFile(state, 'utf8'))
    .replace(`"modified":${before.mtimeMs}`, `"modified":${after.mtimeMs}`)
    .replace(`"touched":${before.ctimeMs}`, `"touched":${after.ctimeMs}`)
  await writeFile(state, remembered)
  expect(await site.push(here)).toMatchObject({ replace: 1 })
})

test('partial files of killed commands are removed after a day', async ({ folder, makeDirectory, service, site }) => {
  const other = 'film.part'
  const [old, now, kept] = ['old', 'now', 'kept'].map(() => `.${randomUUID()}.part`) as [string, string, string]
  const here = await makeDirectory({ 'a.txt': 'a' })
  const downloads = join(here, '.site-files')
  await writeTree(downloads, Object.fromEntries([old, now, other].map((name) => [name, 'half'])))
  const yesterday = Date.now() / 1000 - 25 * 3600
  // The system refuses to remove a folder as a file.
  await mkdir(join(downloads, kept))
  for (const name of [old, other, kept]) await utimes(join(downloads, name), yesterday, yesterday)
  await site.push(here)
  const partial = async () => (await readdir(downloads)).filter((name) => name.endsWith('.part')).sort()
  expect(await partial()).toStrictEqual([now, other, kept].sort())
  await writeTree(downloads, { [old]: 'half' })
  await utimes(join(downloads, old), yesterday, yesterday)
  expect(await siteFiles(['get', `${folder}/a.txt`, `${downloads}/`], asDemo(service))).toMatchObject({ status: 0 })
  expect(await partial()).toStrictEqual([now, other, kept].sort())
})

test('push and pull write nothing through a link .site-files (T-49)', async ({ makeDirectory, site }) => {
  await site.store({ 'b.txt': 'b' })
  const [here, elsewhere] = [await makeDirectory({ 'a.txt': 'a' }), await makeDirectory()]
  await symlink(elsewhere, join(here, '.site-files'))
  for (const run of [site.push, site.pull]) await expect(run(here)).rejects.toThrow(messages.client.noStateFolder)
  expect([await readdir(elsewhere), await readTree(here)]).toStrictEqual([[], { 'a.txt': 'a' }])
  expect(await site.texts()).toStrictEqual({ 'b.txt': 'b' })
})

test('an outage ends a push with one failure, not one per file', async ({ makeDirectory, proxied, service, site }) => {
  const here = await makeDirectory(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`${index}`, 'text'])))
  let writes = 0
  const url = await proxied((method) => (method === 'PUT' && writes++ >= 0 ? 503 : 'pass'))
  const client = await connect({ url, token: service.token, patience: { delay: 1, attempts: 2 } })
  await expect(site.push(here, { client })).rejects.toMatchObject({ status: 503 })
  expect(writes).toBeLessThanOrEqual(2 * 8)
})

test('a pull of a missing path, or of a file, fails and creates no folder', async ({ folder, makeDirectory, site }) => {
  await site.store({ 'a.txt': 'a' })
  const here = await makeDirectory()
  const directory = join(here, 'new')
  await expect(site.pull(directory, { folder: `${folder}/b` })).rejects.toMatchObject({ code: 104001 })
  await expect(site.pull(directory, { folder: `${folder}/a.txt` })).rejects.toThrow(messages.client.isFile)
  await expect(site.push(here, { folder: `${folder}/a.txt` })).rejects.toThrow(messages.client.isFile)
  expect(await readdir(here)).toStrictEqual([])
})

test('a pull writes nothing into a data directory (O-25)', async ({ makeDirectory, service, site }) => {
  await site.store({ 'a.txt': 'a' })
  const link = join(await makeDirectory(), 'link')
  await symlink(join(service.directory, 'blobs'), link)
  for (const directory of [service.directory, join(service.directory, 'new', 'folder'), link])
    await expect(site.pull(directory)).rejects.toThrow(`"${service.directory}" has the data of a service or a backup.`)
  expect(await readdir(service.directory)).not.toContain('new')
})

test('a site may have a file with the name of a database', async ({ makeDirectory, site }) => {
  await site.store({ 'site-admin.db': 'a', 'a/b.txt': 'b' })
  const here = await makeDirectory()
  await site.pull(here)
  for (const directory of [here, join(here, 'a')]) expect(await site.pull(directory)).toMatchObject({ conflict: 0 })
})

test('a download that is longer than announced is cut off and stores no file', async ({ makeDirectory, site }) => {
  await site.store({ 'a.txt': 'ten bytes.' })
  const here = await makeDirectory()
  let given = 0
  const endless = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        given += 65_536
        controller.enqueue(new Uint8Array(65_536))
      },
    })
  const lying = site.withFiles({ read: async () => new Response(endless()) })
  expect(await site.pull(here, { client: lying })).toMatchObject({ create: 0, conflict: 1 })
  expect(given).toBeLessThan(1_000_000)
  expect(await readTree(here)).toStrictEqual({})
})

// Linux refuses a link with EPERM or ENOSYS, and Windows with EISDIR.
test.for(['EPERM', 'ENOSYS', 'EISDIR'])(
  'a pull to a disk without links (%s) creates files, and replaces none',
  async (code, { makeDirectory, site, onTestFinished }) => {
    await site.store({ 'a.txt': 'theirs', 'b.txt': 'theirs' })
    const here = await makeDirectory()
    const linking = vi.spyOn(promises, 'link').mockImplementation(async () => {
      await writeTree(here, { 'a.txt': 'mine' })
      throw Object.assign(new Error(code), { code })
    })
    syncBuiltinESMExports()
    onTestFinished(() => {
      linking.mockRestore()
      syncBuiltinESMExports()
    })
    expect(await site.pull(here)).toMatchObject({ create: 1, conflict: 1, failed: 0 })
    expect(await readTree(here)).toStrictEqual({ 'a.txt': 'mine', 'b.txt': 'theirs' })
  },
)
