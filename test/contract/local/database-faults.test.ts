import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { asPortError } from '../../../lib/core/system-failures.ts'
import { openDatabase } from '../../../lib/machine/sqlite/database.ts'
import { openWords, scratchFile } from '../../support/scratch-database.ts'

const unavailable = expect.objectContaining({ code: 100503, status: 503 })
const outOfSpace = expect.objectContaining({ code: 100507, status: 507 })

const long = 'x'.repeat(100_000)

test('a change answers 507 while reads work, and later changes succeed (E-17, O-18)', async () => {
  const { database, connection, add, words } = openWords()
  await add('a')
  const { page_count: pages } = connection.prepare('PRAGMA page_count').get() ?? {}
  connection.exec(`PRAGMA max_page_count = ${Number(pages) + 2}`)
  const settled = await Promise.allSettled([add('b'), add(long), add('c')])
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(settled[1]).toMatchObject({ reason: outOfSpace })
  await expect(add(long)).rejects.toThrow(outOfSpace)
  expect(await database.read(words)).toEqual(['a', 'b', 'c'])
  connection.exec('PRAGMA max_page_count = 1000000')
  await add(long)
  expect(words()).toEqual(['a', 'b', 'c', long])
})

/** Any existing file, on a disk with free space. */
const file = fileURLToPath(import.meta.url)
const failure = (errcode: number) => Object.assign(new Error(`SQLite says ${errcode}`), { errcode })

test.each([
  ['that another process has the database', 5],
  ['that another process repairs the log', 261],
  ['that it has no handle to open a file', 14],
])('the error %s causes a 503', (_, code) => {
  expect(asPortError(failure(code), file)).toEqual(unavailable)
})

test.runIf(process.platform === 'linux').each([
  ['a write', 778],
  ['the shared memory of the database', 4874],
  ['a sync', 1034],
])('an error of %s causes a 507 if the disk has no free space', (_, code) => {
  // The disk of /proc has no free space.
  expect(asPortError(failure(code), '/proc/self/status')).toEqual(outOfSpace)
})

test.each([
  ['of a write while the disk has free space', 778],
  ['that the database is damaged', 11],
  ['that the file is not a database', 26],
  ['of a constraint of the tables', 1555],
])('the error %s is passed on unchanged', (_, code) => {
  const error = failure(code)
  expect(asPortError(error, file)).toBe(error)
})

test('a file that is not a database is not opened, and stays unchanged', () => {
  const file = scratchFile()
  writeFileSync(file, 'This is a letter, and not a database.'.repeat(100))
  expect(() => openDatabase(file, { durable: true })).toThrow('file is not a database')
})
