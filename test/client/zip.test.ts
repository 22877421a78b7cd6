import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect } from 'vitest'
import { connect, type Files } from '../../client/src/index.ts'
import { openZip } from '../../client/src/zip.ts'
import { messages } from '../support/messages.ts'
import { readZip } from '../support/read-zip.ts'
import { asDemo, outcome, siteFiles, test } from './support/command.ts'

const texts = { 'a.txt': 'a', 'empty.txt': '', 'sub/ü.txt': 'two', 'sub/deep/large.bin': 'x'.repeat(3_000_000) }
const under = (name: string) =>
  Object.fromEntries(Object.entries(texts).map(([path, text]) => [`${name}/${path}`, text]))

test('get writes a folder to a zip; --force replaces a file (T-63)', async ({ demo, folder, makeDirectory, site }) => {
  await site.store(texts)
  const here = await makeDirectory()
  const file = join(here, 'all.zip')
  expect((await demo('get', folder, file)).stdout).toMatch(`${file}  3.0 MB`)
  expect(await readZip(await readFile(file))).toStrictEqual(under(folder))
  expect(await demo('get', folder, file)).toMatchObject(outcome(1, 'Add --force'))
  expect((await demo('get', `/${folder}/sub/`, file, '--force')).status).toBe(0)
  expect(Object.keys(await readZip(await readFile(file)))).toStrictEqual(['sub/deep/large.bin', 'sub/ü.txt'])
  expect(await demo('get', folder)).toMatchObject(outcome(2, messages.client.getZip(folder)))
  expect((await demo('get', '/', join(here, 'site.zip'))).status).toBe(0)
  expect(await readZip(await readFile(join(here, 'site.zip')))).toMatchObject(under(folder))
})

test('a zip contains the chosen files and folders, also empty ones (T-63)', async ({ client, folder, site }) => {
  await site.store(texts)
  await client.files.createFolder(`${folder}/empty`)
  const zip = await openZip(client.files, [`${folder}/a.txt`, `${folder}/empty`, `${folder}/sub/deep`])
  expect([zip.files, zip.bytes]).toEqual([2, 3_000_001])
  let written = {}
  const onProgress = (progress: object) => {
    written = progress
  }
  const bytes = await buffer(zip.stream({ onProgress }))
  expect(Object.keys(await readZip(bytes))).toStrictEqual(['empty/', 'a.txt', 'deep/large.bin'])
  expect(written).toEqual({ files: 2, bytes: 3_000_001 })
})

test.for(['changes', 'disappears'])(
  'if a file %s meanwhile, the zip fails and names it (T-63)',
  async (how, { client, folder, site }) => {
    await site.store({ 'a.txt': 'a', 'b.txt': 'b' })
    const change = () =>
      how === 'changes' ? site.put('b.txt', 'other', { replace: true }) : client.files.remove(`${folder}/b.txt`)
    const read: Files['read'] = async (path, options) => {
      if (path.endsWith('b.txt')) await change()
      return client.files.read(path, options)
    }
    const zip = await openZip({ ...client.files, read }, [folder])
    const message = expect.stringContaining(messages.client.changedInZip(`${folder}/b.txt`))
    await expect(buffer(zip.stream())).rejects.toMatchObject({ message, status: 412 })
  },
)

test('after a failure, get leaves no zip (T-63)', async ({ folder, makeDirectory, proxied, service, site }) => {
  await site.store({ 'a.txt': 'a', 'b.txt': 'b' })
  const here = await makeDirectory()
  const baseUrl = await proxied((_, path) => (path.endsWith('/b.txt') ? 412 : 'pass'))
  const asked = await siteFiles(['get', folder, join(here, 'a.zip')], asDemo({ ...service, baseUrl }))
  expect(asked).toMatchObject(outcome(3, messages.client.changedInZip(`${folder}/b.txt`)))
  expect(await readdir(here)).toStrictEqual([])
})

test('a zip refuses equal names, and names that lead out of its folder (T-63)', async ({ client }) => {
  const listing = (path: string): Files => ({
    ...client.files,
    async *listAll() {
      yield { path, name: path, type: 'file', size: 1, lastModified: null, links: [], etag: '"1"', fingerprint: null }
    },
  })
  for (const path of ['../a', 'b/../../a', '/a', 'a\\b', 'c:a', 'a\u0007'])
    await expect(openZip(listing(path), [''])).rejects.toThrow(`"${path}" cannot be in a zip`)
  const twice = openZip(client.files, ['hello.txt', 'hello.txt'])
  await expect(twice).rejects.toThrow('Two files would be "hello.txt" in the zip.')
})

/** A browser follows a redirect to the bucket itself. The bucket refuses the tags of the service. */
const asBrowser: typeof fetch = async (input, init) => {
  const { headers, redirect } = new Request(input, init)
  const isOfBytes = String(input).endsWith('/large.bin')
  if (isOfBytes && redirect === 'manual')
    return Object.defineProperty(new Response(), 'type', { value: 'opaqueredirect' })
  if (isOfBytes && headers.has('If-Match')) return new Response(null, { status: 412 })
  return Object.defineProperty(await fetch(input, init), 'redirected', { value: isOfBytes })
}

test('a browser gets the right version of large files from the bucket (T-63)', async ({ folder, service, site }) => {
  await site.store(texts)
  const { files } = await connect({ url: service.baseUrl, token: service.token, fetch: asBrowser })
  const zip = await openZip(files, [folder])
  expect(await readZip(await buffer(zip.stream()))).toStrictEqual(under(folder))
  await site.put('sub/deep/large.bin', 'y'.repeat(3_000_000), { replace: true })
  const changed = messages.client.changedInZip(`${folder}/sub/deep/large.bin`)
  await expect(buffer(zip.stream())).rejects.toThrow(changed)
})

test('cancelling a zip also stops the reads of its files (T-63)', async ({ client, folder, site }) => {
  await site.store(texts)
  const signals: (AbortSignal | undefined)[] = []
  const files: Files = {
    ...client.files,
    read: (path, options) => {
      signals.push(options?.signal)
      return client.files.read(path, options)
    },
  }
  const zip = await openZip(files, [folder])
  const reader = zip.stream().getReader()
  await reader.read()
  await reader.cancel(new Error('Enough.'))
  expect(signals.length).toBeGreaterThan(0)
  expect(signals.every((signal) => signal?.aborted)).toBe(true)
})

test('cancelling a zip succeeds before its first file, and at its end', async ({ client, folder, site }) => {
  await site.store(texts)
  const zip = await openZip(client.files, [folder])
  await zip.stream().cancel()
  let left = 0
  for await (const { length } of zip.stream()) left += length
  // The last part of a zip has 22 bytes.
  for await (const { length } of zip.stream()) {
    left -= length
    if (left <= 22) break
  }
  expect(left).toBeLessThanOrEqual(22)
})
