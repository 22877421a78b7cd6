import { appendFileSync, existsSync, watch, writeFileSync } from 'node:fs'
import { type FileHandle, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import { readTree, test, writeTree } from './support/site.ts'

test('concurrent pushes to several folders keep separate states', async ({ client, folder, makeDirectory, site }) => {
  const texts = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${index}.txt`, `text ${index}`]))
  const here = await makeDirectory(texts)
  const places = [1, 2, 3].map((place) => `${folder}/${place}`)
  const pushAll = () => Promise.all(places.map((place) => site.push(here, { folder: place })))
  for (const end of await pushAll()) expect(end).toMatchObject({ create: 20, failed: 0 })
  for (const place of places) await client.files.put(`${place}/0.txt`, 'theirs', { replace: true })
  await writeTree(here, { '0.txt': 'mine' })
  for (const end of await pushAll()) expect(end).toMatchObject({ replace: 0, conflict: 1 })
})

test('concurrent uploads of the same bytes do not conflict', async ({ makeDirectory, site }) => {
  const texts = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}.txt`, `text ${index}`]))
  const folders = await Promise.all([makeDirectory(texts), makeDirectory(texts)])
  await writeFile(join(folders[0], 'large.bin'), Buffer.alloc(5_000_000, 'same'))
  await writeFile(join(folders[1], 'large.bin'), Buffer.alloc(5_000_000, 'same'))
  const ends = await Promise.all(folders.map((directory) => site.push(directory)))
  for (const end of ends) expect(end).toMatchObject({ conflict: 0, failed: 0 })
  expect(await site.texts()).toStrictEqual(await readTree(folders[0]))
})

test('a file that changes while a pull replaces it is sent by the next push', async ({ makeDirectory, site }) => {
  const names = Array.from({ length: 40 }, (_, index) => `${index}.txt`)
  await Promise.all(names.map((name) => site.put(name, 'theirs')))
  const here = await makeDirectory()
  const written = new Set<string>()
  // The change comes immediately after the placement, as from another watcher of the folder.
  const watcher = watch(here, (_, name) => {
    if (name === null || written.has(name) || !names.includes(name) || !existsSync(join(here, name))) return
    written.add(name)
    appendFileSync(join(here, name), ', and mine')
  })
  onTestFinished(() => watcher.close())
  await site.pull(here)
  await expect.poll(() => written.size).toBe(names.length)
  expect(await site.push(here, { dryRun: true })).toMatchObject({ replace: names.length })
})

/** Calls `happen` directly after each read of an open file, before the client checks the file again. */
const afterEachRead = async (file: string, happen: () => void) => {
  const handle = await open(file)
  const type: FileHandle = Object.getPrototypeOf(handle)
  const { read } = type
  await handle.close()
  vi.spyOn(type, 'read').mockImplementation(async function (this: FileHandle, ...args: unknown[]) {
    const result = await Reflect.apply(read, this, args)
    happen()
    return result
  })
}

test.for([
  ['one read is sent in its new state', 1, { create: 1, failed: 0 }, { 'a.txt': 'new' }],
  ['every read fails', Number.POSITIVE_INFINITY, { create: 0, failed: 1 }, {}],
] as const)('a file that changes during %s', async ([, most, end, sent], { client, folder, makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'old' })
  const file = join(here, 'a.txt')
  await client.files.createFolder(folder)
  let changes = 0
  await afterEachRead(file, () => {
    if (changes++ < most) writeFileSync(file, 'new')
  })
  const { events, ...reported } = await site.push(here)
  expect(reported).toMatchObject(end)
  expect(await site.texts()).toEqual(sent)
  const failures = events.flatMap((event) => (event.event === 'failed' ? [event.message] : []))
  expect(failures).toEqual(end.failed > 0 ? [expect.stringContaining('keeps changing. Repeat ')] : [])
})
