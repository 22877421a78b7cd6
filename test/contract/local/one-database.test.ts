import { cpSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../../lib/core/time.ts'
import { openDataDirectory } from '../../../lib/machine/directory/open-directory.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { openImmutable } from '../../../lib/machine/sqlite/database.ts'
import { tamper } from '../../support/backups.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { phrase } from '../../support/messages.ts'
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

test('A search works without its index (O-18)', async ({ host, directory }) => {
  const service = await host()
  const ask = (path: string, method: string) => service.request(`${storage}${path}`, { method })
  for (const method of ['PUT', 'DELETE', 'PUT']) expect((await ask('/searched', method)).status).toBe(200)
  tamper(directory, "CREATE TRIGGER refused BEFORE DELETE ON removed_names BEGIN SELECT RAISE(FAIL, 'no'); END")
  using log = vi.spyOn(console, 'error').mockReturnValue()
  for (let times = 0; times < 2; times++) {
    const answer = await ask('?search=searched', 'GET')
    const body = await answer.json()
    expect({ status: answer.status, body }).toMatchObject({ status: 200, body: { items: [{ path: 'searched' }] } })
  }
  expect(log).toHaveBeenCalledOnce()
  expect(log).toHaveBeenCalledWith(
    expect.stringMatching(phrase`^The index of names cannot be written, so …:$`),
    expect.objectContaining({ message: 'no' }),
  )
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

test('A stop beside a reader keeps changes in the WAL until the next stop (O-14)', async ({ siteDirectory }) => {
  const request = { role: 'command', reset: false, durable: false } as const
  const isMarked = () => existsSync(join(siteDirectory, 'running'))
  const reader = new DatabaseSync(join(siteDirectory, 'site-admin.db'))
  onTestFinished(() => reader.close())
  const first = await openDataDirectory(siteDirectory, request)
  reader.exec('BEGIN; SELECT count(*) FROM sites')
  await first.database.write(() => first.database.connection.exec('DELETE FROM sites'))
  await first.close()
  expect(isMarked()).toBe(true)
  reader.exec('ROLLBACK')
  const second = await openDataDirectory(siteDirectory, request)
  await second.close()
  expect(isMarked()).toBe(false)
  using alone = openImmutable(join(siteDirectory, 'site-admin.db'))
  expect(alone.prepare('SELECT count(*) AS sites FROM sites').get()).toEqual({ sites: 0 })
})

test('After a crash, the next process moves all changes to the database file (O-20)', async ({ siteDirectory }) => {
  const request = { role: 'command', reset: false, durable: true } as const
  const killed = await openDataDirectory(siteDirectory, request)
  await killed.database.write(() => killed.database.connection.exec('DELETE FROM sites'))
  const left = scratchDirectory()
  cpSync(siteDirectory, left, { recursive: true })
  await killed.close()
  const sitesInFile = () => {
    using alone = openImmutable(join(left, 'site-admin.db'))
    return alone.prepare('SELECT count(*) AS sites FROM sites').get()
  }
  expect(sitesInFile()).toEqual({ sites: 1 })
  const next = await openDataDirectory(left, request)
  expect(sitesInFile()).toEqual({ sites: 0 })
  await next.close()
})

test.for([
  ['a command pauses for other processes', 'command', [1]],
  ['a service does not pause', 'service', [1, 2]],
] as const)('After 25 ms of changes, %s', async ([, role, atOnce], { siteDirectory }) => {
  onTestFinished(() => void vi.useRealTimers())
  const { database, close } = await openDataDirectory(siteDirectory, { role, reset: false, durable: true })
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
  const made: number[] = []
  await database.write(() => {
    vi.advanceTimersByTime(25)
    made.push(1)
  })
  const next = database.write(() => made.push(2))
  await turn()
  await turn()
  expect(made).toEqual(atOnce)
  await vi.advanceTimersByTimeAsync(10)
  await next
  expect(made).toEqual([1, 2])
  vi.useRealTimers()
  await close()
})
