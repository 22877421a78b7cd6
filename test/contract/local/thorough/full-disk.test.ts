import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openDataDirectory } from '../../../../lib/machine/directory/open-directory.ts'
import { openMachine } from '../../../../lib/machine/machine.ts'
import { administer, administerJson } from '../../../support/administration.ts'
import { messages, phrase } from '../../../support/messages.ts'
import { failing } from '../../../support/outcomes.ts'
import { fields, news, storage } from '../../../support/paths.ts'
import { run } from '../../../support/program.ts'
import { startService } from '../../../support/spawned-service.ts'
import { test as base } from '../../../support/test.ts'

const megabytes = 8

/** Enough writes to fill the disk with the WAL. */
const mostWrites = 3_000

const test = base
  .extend('disk', async ({ mountDisk }) => mountDisk(megabytes))
  .extend('full', async ({ disk }, { onCleanup }) => {
    const data = join(disk.path, 'data')
    const service = await startService(data, ['--port', '0', '--quiet'])
    onCleanup(async () => void (await service.stop()))
    return { service, data }
  })

test('a write answers 507 until the disk has space (E-17, O-18, V-29)', async ({ disk, full: { service, data } }) => {
  const put = async (path: string, size: number) => {
    const answer = await service.request(`${storage}/${path}`, { method: 'PUT', body: 'x'.repeat(size) })
    const { code = 0 } = JSON.parse(await answer.text())
    return { status: answer.status, code }
  }
  const change = async (path: string, method: string, body: object) =>
    (await service.request(path, { method, body: JSON.stringify(body) })).status
  expect(await put('small', 100)).toMatchObject({ status: 200 })
  expect(await put('large', 40_000)).toMatchObject({ status: 200 })

  disk.fill()
  const outOfSpace = { status: 507, code: 100507 }
  expect(await put('huge', 400_000)).toEqual(outOfSpace)
  expect(await Promise.all([put('huge', 400_000), put('huge', 400_000)])).toEqual([outOfSpace, outOfSpace])
  // The bytes of the refused files are removed.
  expect(readdirSync(join(data, 'blobs'))).toHaveLength(1)
  // The first writes fit into the space that the WAL already has.
  let writes = 0
  while ((await put(`many/${writes}`, 10_000)).status === 200 && writes < mostWrites) writes += 1
  expect(writes).toBeLessThan(mostWrites)
  expect(await put('another', 10_000)).toEqual(outOfSpace)
  expect(await put('small', 5_000)).toEqual(outOfSpace)
  const readiness = async () => (await service.request('/health?ready')).status
  expect(await readiness()).toBe(507)

  for (const path of [
    `${storage}/small`,
    `${storage}/large`,
    `${storage}/?meta`,
    `${storage}/?status=${service.token}`,
    `${storage}?search=small`,
    fields,
    `${news}?order=-releaseDate`,
    '/health',
  ]) {
    const answer = await service.request(path)
    expect({ path, status: answer.status }).toEqual({ path, status: 200 })
    await answer.arrayBuffer()
  }
  expect(await (await service.request(`${storage}/small`)).text()).toBe('x'.repeat(100))

  disk.makeRoom()
  expect(await readiness()).toBe(200)
  expect(await put('small', 5_000)).toMatchObject({ status: 200 })
  expect(await put('huge', 400_000)).toMatchObject({ status: 200 })
  expect(await change(`${fields}/-2`, 'PUT', { mandatory: false })).toBe(200)
  expect(await change(news, 'POST', { items: [{ objectId: 2 }] })).toBe(201)
  expect(await service.stop()).toMatchObject({ status: 0 })
  expect(await administerJson(data, ['check'])).toEqual({ faults: [] })
})

test('a disk without room for another name counts as full (V-29)', async ({ disk, full: { service } }) => {
  const addNames = () => {
    for (let name = 0; ; name++) writeFileSync(join(disk.path, `${name}`), '')
  }
  expect(addNames).toThrow('ENOSPC')
  expect((await service.request('/health?ready')).status).toBe(507)
})

test('an append that fills the disk keeps no space (O-18, U-19)', async ({ full: { service } }) => {
  const tus = { 'Tus-Resumable': '1.0.0' }
  const created = await service.request(`${storage}/films`, {
    method: 'POST',
    headers: { ...tus, 'Upload-Length': String(20 * 1024 ** 2), 'Upload-Metadata': 'filename YQ==' },
  })
  const upload = new URL(created.headers.get('location') ?? '').pathname
  const bytes = { ...tus, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' }
  const append = await service.request(upload, { method: 'PATCH', headers: bytes, body: 'x'.repeat(12 * 1024 ** 2) })
  expect(append.status).toBe(507)
  const put = await service.request(`${storage}/other`, { method: 'PUT', body: 'x'.repeat(2 * 1024 ** 2) })
  expect(put.status).toBe(200)
})

test('an import that fills the disk is completed by the next import (O-18, T-27)', async ({ disk, full: { data } }) => {
  const body = 'x'.repeat(100_000)
  const bodies = Array.from({ length: 15 }, (_, index) => ({ kind: 'news', id: 1_001 + index, body }))
  const records = [{ kind: 'category', id: 1_001, name: 'First' }, ...bodies].map((record) => JSON.stringify(record))
  const importAll = (...flags: string[]) =>
    administer(data, [...flags, 'import', '-', '--site', '1001'], records.join('\n'))
  disk.fill(500_000)
  const { status, stderr } = await importAll()
  expect(status).toBe(1)
  expect(stderr).toMatch(phrase`^The disk is full. Free some space, then repeat the command: repeating is safe. (…)$`)
  const categories = await administerJson(data, ['category', 'list', '--site', '1001'])
  expect(categories).toContainEqual({ id: 1_001, name: 'First' })
  disk.makeRoom()
  expect(JSON.parse((await importAll('--json')).stdout)).toMatchObject({ imported: 16, skipped: 0 })
})

test('a command that fails on a full disk names it, also when repeated', async ({ disk }) => {
  const data = join(disk.path, 'data')
  await (await openMachine(data, { role: 'service' })).close()
  disk.fill()
  for (const command of ['site list', 'token list', 'check']) {
    const { status, stdout, stderr } = await administer(data, command.split(' '))
    expect([status, stdout + stderr]).toEqual([1, expect.stringMatching(/disk .*full/)])
  }
})

test('A stop on a full disk leaves the changes in the WAL for the next start (O-14)', async ({ disk }) => {
  const data = join(disk.path, 'data')
  const request = { role: 'service', reset: false, durable: true } as const
  const { database, close } = await openDataDirectory(data, request)
  const large = "INSERT INTO access_values VALUES ('large', hex(zeroblob(500000)), NULL)"
  await database.write(() => database.connection.exec(large))
  disk.fill()
  await close()
  rmSync(join(data, 'site-admin.db-wal'))
  await expect(openDataDirectory(data, request)).rejects.toThrow(messages.directory.walMissing)
})

test('a killed service that starts again on a full disk prints advice', async ({ disk }) => {
  const data = join(disk.path, 'data')
  const killed = await startService(data)
  killed.kill('SIGKILL')
  await killed.ended
  disk.fill()
  // The WAL is readable. The first change finds no free space.
  for (const [entry, ...command] of [['local/main.js'], ['admin/main.js', 'serve']] as const) {
    const outcome = await run(entry, [...command, '--data-dir', data, '--port', '0'])
    expect(outcome).toMatchObject(failing(messages.directory.full('')))
    expect(existsSync(join(data, 'running'))).toBe(true)
  }
})
