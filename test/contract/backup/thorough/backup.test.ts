import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { administer, administerJson } from '../../../support/administration.ts'
import {
  backUp,
  beginUpload,
  blobOf,
  contentOf,
  faultsOf,
  isWhole,
  large,
  modesIn,
  put,
  read,
  restore,
  test,
} from '../../../support/backups.ts'
import { messages } from '../../../support/messages.ts'
import { fields, storage } from '../../../support/paths.ts'
import type { SpawnedService } from '../../../support/spawned-service.ts'

/** The paths of all files of the site. */
const filesOf = async (service: SpawnedService): Promise<readonly string[]> => {
  const answer = await service.request(`${storage}/?meta&recursive=true`)
  const { contents } = (await answer.json()) as { contents: readonly { path: string }[] }
  return contents.map(({ path }) => path)
}

const oldestVersion = async (service: SpawnedService, path: string): Promise<Buffer> => {
  const answer = await service.request(`${storage}/${path}?versions`)
  const { versions } = (await answer.json()) as { versions: readonly { version: string }[] }
  const oldest = await service.request(`${storage}/${path}?versionId=${versions.at(-1)?.version}`)
  return Buffer.from(await oldest.arrayBuffer())
}

/**
 * Writes a number into a small file and then into a large file, again and again. At any moment the number in the small
 * file equals the number in the large file, or is one higher.
 */
const writeOn = async (service: SpawnedService, writer: number, isOver: () => boolean): Promise<void> => {
  for (let count = 0; !isOver(); count += 1) {
    await put(service, `${writer}/first`, String(count))
    await put(service, `${writer}/second`, contentOf(String(count)))
    await put(service, `${writer}/gone-${count}`, contentOf(String(count)))
    if (count > 0) await service.request(`${storage}/${writer}/gone-${count - 1}`, { method: 'DELETE' })
  }
}

test('a backup contains the state when it began, with the same tokens (T-20)', async ({ place, serve }) => {
  const service = await serve(place.data)
  await put(service, 'small.txt', 'small')
  await put(service, 'large.bin', contentOf('a'))
  await put(service, 'replaced.bin', contentOf('b'))
  await put(service, 'replaced.bin', contentOf('c'))
  await service.request(`${fields}/-2`, { method: 'DELETE' })

  const made = await administerJson(place.data, ['backup', place.backup])
  expect(made).toMatchObject({ backup: place.backup, files: 5, damaged: 0, at: expect.stringMatching(/Z$/) })
  expect(made.bytes).toBeGreaterThan(3 * large)
  await put(service, 'later.txt', 'later')
  expect(modesIn(place.backup)).toEqual(new Set(['folder 700', 'file 600']))
  expect(await administerJson(place.backup, ['check', '--bytes'])).toEqual({ faults: [] })
  expect(readdirSync(place.backup)).toEqual(['blobs', 'demo.json', 'site-admin-backup.json', 'site-admin.db'])

  const restored = await administerJson(place.restored, ['restore', place.backup])
  expect(restored).toMatchObject({ dataDirectory: place.restored, files: 5, damaged: 0, at: made.at })
  expect(modesIn(place.restored)).toEqual(new Set(['folder 700', 'file 600']))
  const again = await serve(place.restored)
  expect(again.token).toBe(service.token)
  expect(await filesOf(again)).toEqual(['hello.txt', 'large.bin', 'old/notice.txt', 'replaced.bin', 'small.txt'])
  expect(await read(again, 'large.bin')).toEqual(contentOf('a'))
  expect(await oldestVersion(again, 'replaced.bin')).toEqual(contentOf('b'))
  expect((await again.request(`${fields}/-2`)).status).toBe(404)
  await again.stop()
  expect(await faultsOf(place.restored)).toEqual([])
})

test('Restored webhooks are disabled, unless --keep-webhooks is given (V-33)', async ({ backedUp }) => {
  const { data, folder, restored } = backedUp
  const [target, replacement] = [join(folder, 'again'), join(folder, 'replacement')]
  const create = ['webhook', 'create', '--site', '1001', '--url', 'https://example.com/']
  const { id } = await administerJson(data, create)
  await backUp(data, target)
  expect((await administer(restored, ['restore', target])).stdout).toMatch(messages.backup.webhookDisabled)
  const kept = await administerJson(replacement, ['restore', target, '--keep-webhooks'])
  expect(kept).toMatchObject({ disabledWebhooks: 0 })
  for (const directory of [restored, replacement]) {
    const found = await administerJson(directory, ['webhook', 'show', id, '--site', '1001'])
    expect(found.enabled).toBe(directory === replacement)
  }
})

test('a backup contains the state of one moment, while eight writers change files', async ({ place, serve }) => {
  const service = await serve(place.data)
  for (let file = 0; file < 20; file += 1) await put(service, `kept/${file}`, contentOf('k'))
  let isOver = false
  const writers = Array.from({ length: 8 }, (_, writer) => writeOn(service, writer, () => isOver))
  try {
    await administerJson(place.data, ['backup', place.backup])
  } finally {
    isOver = true
    await Promise.all(writers)
  }
  await service.stop()

  expect(await faultsOf(place.backup)).toEqual([])
  await restore(place.backup, place.restored)
  const again = await serve(place.restored)
  const files = await filesOf(again)
  expect(files.filter((path) => path.startsWith('kept/'))).toHaveLength(20)
  for (const path of files.filter((name) => /^(kept|\d\/(second|gone))/.test(name))) {
    expect({ path, isWhole: isWhole(await read(again, path)) }).toEqual({ path, isWhole: true })
  }
  for (const path of files.filter((name) => name.endsWith('/second'))) {
    const first = Number(await read(again, path.replace('second', 'first')))
    const second = await read(again, path)
    expect([first, first - 1].some((count) => second.equals(contentOf(String(count))))).toBe(true)
  }
})

test('an unfinished upload can continue in the backup and in the directory, separately', async ({ place, serve }) => {
  const service = await serve(place.data)
  const append = await beginUpload(service)
  await append(service, 0, '1')
  await backUp(place.data, place.backup)
  await append(service, 30_000, '3')

  await restore(place.backup, place.restored)
  const again = await serve(place.restored)
  await append(again, 30_000, '2')
  expect(String(await read(again, 'uploads/half.bin'))).toBe('1'.repeat(30_000) + '2'.repeat(30_000))
  expect(String(await read(service, 'uploads/half.bin'))).toBe('1'.repeat(30_000) + '3'.repeat(30_000))
})

test('the backup keeps shared blobs when the directory removes them', async ({ backedUp, serve }) => {
  const { data, backup, token } = backedUp
  expect(statSync(blobOf(backup)).ino).toBe(statSync(blobOf(data)).ino)
  await rm(data, { recursive: true })
  await restore(backup, data)
  await rm(backup, { recursive: true })
  const service = await serve(data)
  expect(service.token).toBe(token)
  expect(await read(service, 'large.bin')).toEqual(contentOf('a'))
})

test('a backup replaces an empty folder', async ({ backedUp: { data, folder } }) => {
  const target = join(folder, 'empty')
  mkdirSync(target)
  await backUp(data, target)
  expect(await faultsOf(target)).toEqual([])
  expect(readdirSync(folder).toSorted()).toEqual(['backup', 'data', 'empty'])
})
