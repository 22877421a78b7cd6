import { readdirSync } from 'node:fs'
import { expect } from 'vitest'
import { systemClock } from '../../../lib/core/clock.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { storage } from '../../support/paths.ts'
import { test } from '../../support/test.ts'

const own = /^(site-admin\.(db|db-wal|db-shm|json)|demo\.json|running|locks(\/\w+)?|blobs|orphans)$/

test('A data directory has one database, and blobs only of larger files (O-9)', async ({ host, directory }) => {
  const service = await host()
  const put = (path: string, size: number) =>
    service.request(`${storage}/${path}`, { method: 'PUT', body: 'x'.repeat(size) })
  const others = () => readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => !own.test(name))
  expect((await put('small.txt', 8_000)).status).toBe(200)
  expect((await put('page.html?version=draft', 8_000)).status).toBe(200)
  expect(others()).toEqual([])
  expect((await put('large.txt', 300_000)).status).toBe(200)
  expect(others()).toEqual([expect.stringMatching(/^blobs\/[^/]+$/)])
})

test('A data directory is free again after a start that failed', async ({ directory }) => {
  const clock = {
    ...systemClock,
    wall: () => {
      throw new Error('The clock is broken')
    },
  }
  await expect(openMachine(directory, { role: 'service', clock })).rejects.toThrow('The clock is broken')
  const machine = await openMachine(directory, { role: 'service' })
  await machine.close()
})
