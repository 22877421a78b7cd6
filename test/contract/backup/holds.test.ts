import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../../lib/core/time.ts'
import { createIsHeld, holdBlobs, holdForBackups } from '../../../lib/machine/backup/holds.ts'
import { layoutOf } from '../../../lib/machine/directory/data-directory.ts'
import { type Machine, openMachine } from '../../../lib/machine/machine.ts'
import { openBlobs } from '../../../lib/machine/objects/blobs.ts'
import { entry } from '../../support/history.ts'
import { inPieces } from '../../support/in-pieces.ts'
import { infoOf, putObject } from '../../support/objects.ts'
import { test as base } from '../../support/test.ts'

const second = 1_000
const minute = 60 * second

const test = base.extend('machines', async ({ directory }, { onCleanup }) => {
  const clock = { ...systemClock, time: Date.UTC(2026, 0, 1), wall: () => clock.time }
  const open = new Set<Machine>()
  onCleanup(async () => void (await Promise.all([...open].map((machine) => machine.close()))))
  const keep = (machine: Machine) => {
    open.add(machine)
    return machine
  }
  return {
    clock,
    /** A service that drops old versions at its start, and moves unreferenced blobs to the orphans. */
    async service() {
      return keep(await openMachine(directory, { role: 'service', durable: false, keptFor: 0, clock }))
    },
    async command() {
      return keep(await openMachine(directory, { clock }))
    },
    async close(machine: Machine) {
      open.delete(machine)
      await machine.close()
    },
  }
})

const putAndRemove = async ({ stores: { files } }: Machine, key: string) => {
  await putObject(files, key, Buffer.alloc(40_000, 'x'))
  await files.remove([await infoOf(files, key)], { entry })
}

const blobsIn = (directory: string) => readdirSync(join(directory, 'blobs'))

test('blobs of expired versions stay, and a start does not move these blobs', async ({ directory, machines }) => {
  const first = await machines.service()
  await putAndRemove(first, 'live/1001/a')
  const [blob = ''] = blobsIn(directory)
  await machines.close(first)
  const command = await machines.command()
  const hold = await holdBlobs(command.database, minute, machines.clock.wall)

  machines.clock.time += 30 * second
  const next = await machines.service()
  const kept = async () => (await next.stores.files.versions('live/1001/a', { limit: 10 }))?.versions
  await expect.poll(kept).toEqual([])
  expect(blobsIn(directory)).toEqual([blob])
  await machines.close(next)
  const third = await machines.service()
  expect(third.stores.tidied).toEqual({ orphans: 0, damaged: 0 })
  expect(blobsIn(directory)).toEqual([blob])
  await machines.close(third)

  await hold[Symbol.asyncDispose]()
  const last = await machines.service()
  expect(last.stores.tidied).toEqual({ orphans: 1, damaged: 0 })
  expect(blobsIn(directory)).toEqual([])
})

test('blobs of purged versions stay until the backup ends (H-30)', async ({ directory, machines }) => {
  await machines.close(await machines.service())
  const machine = await machines.command()
  const purge = async (key: string) => {
    await putAndRemove(machine, key)
    const { versions = [] } = (await machine.stores.files.versions(key, { limit: 10 })) ?? {}
    const purged = versions.map((version) => ({ ...version, key }))
    await machine.stores.files.purge(purged, entry)
  }
  const hold = await holdBlobs(machine.database, minute, machines.clock.wall)
  await purge('live/1001/a')
  expect(blobsIn(directory)).toHaveLength(1)
  await hold[Symbol.asyncDispose]()
  await purge('live/1001/b')
  expect(blobsIn(directory)).toEqual([])
})

test('a killed backup keeps blobs until its lease ends, and cannot renew it', async ({ directory, machines }) => {
  const first = await machines.service()
  await putAndRemove(first, 'live/1001/a')
  await machines.close(first)
  const { database } = await machines.command()
  const hold = await holdBlobs(database, minute, machines.clock.wall)
  machines.clock.time += 30 * second
  expect(await hold.extend()).toBe(true)
  machines.clock.time += minute
  expect(await hold.extend()).toBe(false)
  await machines.service()
  await expect.poll(() => blobsIn(directory)).toEqual([])
})

test('two backups may run at once, and both keep their blobs', async ({ machines }) => {
  await machines.close(await machines.service())
  const { database } = await machines.command()
  const { clock } = machines
  const isHeld = createIsHeld(database.connection)
  const [one, two] = [await holdBlobs(database, minute, clock.wall), await holdBlobs(database, minute, clock.wall)]
  await one[Symbol.asyncDispose]()
  expect(isHeld(clock.time)).toBe(true)
  await two[Symbol.asyncDispose]()
  expect(isHeld(clock.time)).toBe(false)
})

test('blobs are removed soon after a backup, even if no other blob is removed', async ({ directory }) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const name = 'a'.repeat(32)
  let isHeld = true
  const blobs = holdForBackups(openBlobs(layoutOf(directory), { durable: false }), () => isHeld)
  await blobs.write(name, inPieces(Buffer.from('a'), 1))
  await blobs.remove([name])
  await vi.advanceTimersByTimeAsync(minute)
  expect(blobsIn(directory)).toEqual([name])
  isHeld = false
  await vi.advanceTimersByTimeAsync(minute)
  await expect.poll(() => existsSync(join(directory, 'blobs', name))).toBe(false)
  blobs.close()
})
