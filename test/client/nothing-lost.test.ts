import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chmod, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { connect, type Files, type SiteClient } from '../../client/src/index.ts'
import { pull, push } from '../../client/src/sync/index.ts'
import { startProxy } from './support/proxy.ts'
import { pathsOf, readSite, readTree, reported, test, writeTree } from './support/site.ts'

/** A client with one call replaced. */
const withFiles = (client: SiteClient, files: Partial<Files>): SiteClient => ({
  ...client,
  files: { ...client.files, ...files },
})

test('a local file that was never synchronised is replaced only with force', async ({
  client,
  folder,
  store,
  makeDirectory,
}) => {
  await store({ 'a.txt': 'theirs', 'b.txt': 'new' })
  const here = await makeDirectory({ 'a.txt': 'mine' })
  for (let run = 0; run < 2; run++) {
    const { events } = await reported(pull, { client, directory: here, folder })
    expect(pathsOf(events, 'step')).toStrictEqual(['a.txt'])
    expect(await readTree(here)).toStrictEqual({ 'a.txt': 'mine', 'b.txt': 'new' })
  }
  expect(await pull({ client, directory: here, folder, force: true })).toMatchObject({ replace: 1, conflict: 0 })
  expect(await readTree(here)).toStrictEqual({ 'a.txt': 'theirs', 'b.txt': 'new' })
})

test('a large file continues after a crash, and does not start again', async ({ client, folder, makeDirectory }) => {
  // More than any system buffers.
  const here = await makeDirectory({ 'large.bin': 'x'.repeat(64_000_000) })
  const crash = new AbortController()
  const crashing = withFiles(client, {
    put: (path, content, options) =>
      client.files.put(path, content, {
        ...options,
        signal: crash.signal,
        onProgress: ({ sent }) => sent > 48_000_000 && crash.abort(new Error('crash')),
      }),
  })
  expect(await push({ client: crashing, directory: here, folder })).toMatchObject({ failed: 1 })
  const { events, end } = await reported(push, { client, directory: here, folder })
  expect(end).toMatchObject({ create: 1, failed: 0 })
  expect(events.find(({ event }) => event === 'progress')).toMatchObject({
    bytes: expect.toSatisfy((sent) => sent > 0),
  })
  expect(await readSite(client, folder)).toStrictEqual(await readTree(here))
})

test('an upload that was placed before a crash and then replaced by someone does not count as sent', async ({
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'large.bin': 'x'.repeat(5_000_000) })
  const crashing = withFiles(client, {
    async put(...given) {
      await client.files.put(...given)
      throw new Error('crash')
    },
  })
  expect(await push({ client: crashing, directory: here, folder })).toMatchObject({ failed: 1 })
  await client.files.put(`${folder}/large.bin`, 'theirs', { replace: true })
  expect(await push({ client, directory: here, folder, force: true })).toMatchObject({ replace: 1, failed: 0 })
  expect(await readSite(client, folder)).toStrictEqual(await readTree(here))
})

test('an upload that started before someone stored the file starts again under the condition of the new plan', async ({
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'large.bin': 'x'.repeat(5_000_000) })
  const crashing = withFiles(client, {
    put: (path, content, options) =>
      client.files.put(path, content, {
        ...options,
        async onBegun(address) {
          await options?.onBegun?.(address)
          throw new Error('crash')
        },
      }),
  })
  expect(await push({ client: crashing, directory: here, folder })).toMatchObject({ failed: 1 })
  await client.files.put(`${folder}/large.bin`, 'theirs')
  expect(await push({ client, directory: here, folder })).toMatchObject({ replace: 0, conflict: 1 })
  expect(await readSite(client, folder)).toStrictEqual({ 'large.bin': 'theirs' })
  const forced = await push({ client, directory: here, folder, force: true })
  expect(forced).toMatchObject({ replace: 1, conflict: 0, failed: 0 })
  expect(await readSite(client, folder)).toStrictEqual(await readTree(here))
})

test('bytes that differ from the site are not placed, and no partial file stays', async ({
  client,
  folder,
  store,
  makeDirectory,
}) => {
  await store({ 'a.txt': 'one' })
  const here = await makeDirectory()
  await pull({ client, directory: here, folder })
  await client.files.put(`${folder}/a.txt`, 'two', { replace: true })
  const garbling = withFiles(client, { read: async () => new Response('tow') })
  expect(await pull({ client: garbling, directory: here, folder })).toMatchObject({ replace: 0, failed: 1 })
  expect(await readTree(here)).toStrictEqual({ 'a.txt': 'one' })
  expect((await readdir(join(here, '.site-files'))).filter((name) => name.endsWith('.part'))).toStrictEqual([])
})

test('a pull keeps the mode of a file that it replaces', async ({ client, folder, makeDirectory }) => {
  const here = await makeDirectory({ 'run.sh': 'one' })
  await chmod(join(here, 'run.sh'), 0o700)
  await push({ client, directory: here, folder })
  await client.files.put(`${folder}/run.sh`, 'two', { replace: true })
  await pull({ client, directory: here, folder })
  expect(readFileSync(join(here, 'run.sh'), 'utf8')).toBe('two')
  expect((await stat(join(here, 'run.sh'))).mode & 0o777).toBe(0o700)
})

test('a removal under the name of a link to a folder does not remove the file under its own name', async ({
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ 'a/file.txt': 'text' })
  await symlink('a', join(here, 'link'))
  await push({ client, directory: here, folder })
  await client.files.remove(`${folder}/link`)
  const { end, events } = await reported(pull, { client, directory: here, folder, removes: true })
  expect(end).toMatchObject({ remove: 0, failed: 1 })
  expect(pathsOf(events, 'failed')).toStrictEqual(['link/file.txt'])
  expect(await readFile(join(here, 'a/file.txt'), 'utf8')).toBe('text')
})

test('a file and a folder of the same name replace each other with --delete', async ({
  client,
  folder,
  makeDirectory,
}) => {
  const here = await makeDirectory({ news: 'a file', 'blog/index.html': 'in a folder' })
  const there = await makeDirectory()
  await push({ client, directory: here, folder })
  await pull({ client, directory: there, folder })
  await rm(join(here, 'news'))
  await rm(join(here, 'blog'), { recursive: true })
  await writeTree(here, { 'news/index.html': 'in a folder', blog: 'a file' })
  expect(await push({ client, directory: here, folder, removes: true })).toMatchObject({ failed: 0 })
  expect(await readSite(client, folder)).toStrictEqual(await readTree(here))
  expect(await pull({ client, directory: there, folder, removes: true })).toMatchObject({ failed: 0 })
  expect(await readTree(there)).toStrictEqual(await readTree(here))
})

test('a file with a time that was set back is read again', async ({ client, folder, makeDirectory }) => {
  const here = await makeDirectory({ 'a.txt': 'one' })
  await utimes(join(here, 'a.txt'), 1, 1)
  await push({ client, directory: here, folder })
  const state = join(here, '.site-files', 'files.json')
  // Simulates a past write.
  await writeFile(state, (await readFile(state, 'utf8')).replace(/"written":\d+/, `"written":${Date.now() + 3600_000}`))
  await writeTree(here, { 'a.txt': 'two' })
  await utimes(join(here, 'a.txt'), 1, 1)
  expect(await push({ client, directory: here, folder })).toMatchObject({ replace: 1 })
})

test('if the state cannot be written, nothing is sent', async ({ client, folder, makeDirectory }) => {
  const here = await makeDirectory({ 'a.txt': 'a', '.site-files': 'a file, where a folder has to be' })
  await expect(push({ client, directory: here, folder })).rejects.toThrow('EEXIST')
  await expect(client.files.stat(folder)).rejects.toMatchObject({ status: 404 })
})

test('partial files of a killed run are removed a day later, but not current ones or those of others', async ({
  client,
  folder,
  makeDirectory,
}) => {
  const [old, now, other] = [`.${randomUUID()}.part`, `.${randomUUID()}.part`, 'film.part']
  const downloads = await makeDirectory(Object.fromEntries([old, now, other].map((name) => [name, 'half'])))
  const yesterday = Date.now() / 1000 - 25 * 3600
  for (const name of [old, other]) await utimes(join(downloads, name), yesterday, yesterday)
  const here = await makeDirectory({ 'a.txt': 'a' })
  await symlink(downloads, join(here, '.site-files'))
  await push({ client, directory: here, folder })
  expect((await readdir(downloads)).filter((name) => name.endsWith('.part')).sort()).toStrictEqual([now, other].sort())
})

test('a long outage ends a push, and does not fail each of its files', async ({ service, folder, makeDirectory }) => {
  const here = await makeDirectory(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`${index}`, 'text'])))
  let writes = 0
  const proxy = await startProxy(service.baseUrl, (method) => (method === 'PUT' && writes++ >= 0 ? 503 : 'pass'))
  try {
    const client = await connect({ url: proxy.url, token: service.token, patience: { delay: 1, attempts: 2 } })
    await expect(push({ client, directory: here, folder })).rejects.toMatchObject({ status: 503 })
    expect(writes).toBeLessThanOrEqual(2 * 8)
  } finally {
    await proxy.stop()
  }
})

test('a pull of a missing path or of a file is refused, and creates no folder', async ({
  client,
  folder,
  store,
  makeDirectory,
}) => {
  await store({ 'a.txt': 'a' })
  const here = await makeDirectory()
  const directory = join(here, 'new')
  await expect(pull({ client, directory, folder: `${folder}/b` })).rejects.toMatchObject({ code: 104001 })
  await expect(pull({ client, directory, folder: `${folder}/a.txt` })).rejects.toThrow('is a file of the site')
  await expect(push({ client, directory: here, folder: `${folder}/a.txt` })).rejects.toThrow('is a file of the site')
  expect(await readdir(here)).toStrictEqual([])
})

test('a server that sends more bytes than announced does not fill the disk', async ({
  client,
  folder,
  store,
  makeDirectory,
}) => {
  await store({ 'a.txt': 'ten bytes.' })
  const here = await makeDirectory()
  let given = 0
  const endless = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        given += 65_536
        controller.enqueue(new Uint8Array(65_536))
      },
    })
  const lying = withFiles(client, { read: async () => new Response(endless()) })
  expect(await pull({ client: lying, directory: here, folder })).toMatchObject({ create: 0, conflict: 1 })
  expect(given).toBeLessThan(1_000_000)
  expect(await readTree(here)).toStrictEqual({})
})
