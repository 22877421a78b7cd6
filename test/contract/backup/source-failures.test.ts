import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { backUp, test as base, faultsOf } from '../../support/backups.ts'
import { messages } from '../../support/messages.ts'
import { storage } from '../../support/paths.ts'

/** `small` is a small disk with a data directory, on which no service runs. */
const test = base.extend('small', async ({ mountDisk, backedUp: { data } }) => {
  const disk = mountDisk(8)
  const onDisk = join(disk.path, 'data')
  await cp(data, onDisk, { recursive: true })
  return { disk, onDisk }
})

/** Enough writes to fill the disk with the WAL. */
const mostWrites = 3_000

test('backup reports a damaged database with its data directory and advice', async ({ backedUp: { data, folder } }) => {
  const file = join(data, 'site-admin.db')
  writeFileSync(file, readFileSync(file).fill(0xa7, 10 * 4096, 13 * 4096))
  await expect(backUp(data, join(folder, 'again'))).rejects.toThrow(messages.backup.databaseDamaged(file))
  expect(readdirSync(folder).toSorted()).toEqual(['backup', 'data'])
  expect(await faultsOf(data)).toMatchObject([
    { where: file },
    { fault: expect.stringMatching(messages.check.bytesUnread) },
  ])
})

test('without a service, the full disk is named', async ({ small: { disk, onDisk }, backedUp: { folder } }) => {
  disk.fill()
  await expect(backUp(onDisk, join(folder, 'again'))).rejects.toThrow(messages.directory.full(onDisk))
  disk.makeRoom()
  expect(await backUp(onDisk, join(folder, 'again'))).toMatchObject({ damaged: 0 })
})

test('beside a service, the full disk is named', async ({ small: { disk, onDisk }, backedUp: { folder }, serve }) => {
  const service = await serve(onDisk)
  try {
    disk.fill()
    const put = () => service.request(`${storage}/small.txt`, { method: 'PUT', body: 'x'.repeat(10_000) })
    let writes = 0
    while ((await put()).status === 200 && writes < mostWrites) writes += 1
    expect(writes).toBeLessThan(mostWrites)
    await expect(backUp(onDisk, join(folder, 'again'))).rejects.toThrow(messages.directory.full(onDisk))
    expect(readdirSync(folder).toSorted()).toEqual(['backup', 'data', 'disk'])
    disk.makeRoom()
    expect(await backUp(onDisk, join(folder, 'again'))).toMatchObject({ damaged: 0 })
  } finally {
    // The service stops before the disk is unmounted.
    await service.stop()
  }
})
