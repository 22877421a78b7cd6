import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../lib/core/time.ts'
import { checkObjects } from '../../../lib/machine/check/file-pass.ts'
import { layoutOf } from '../../../lib/machine/directory/data-directory.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { tidyBlobs } from '../../../lib/machine/objects/tidy-blobs.ts'
import { writeBlob } from '../../../lib/machine/objects/write-blob.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { entry } from '../../support/history.ts'
import { type LocalFiles, openLocalFiles } from '../../support/local-files.ts'
import { bytesIn, bytesOf, infoOf, nowhere, putObject } from '../../support/objects.ts'
import { megabyte } from './object-store.suite.ts'

const large = Buffer.alloc(2 * megabyte, 'x')
const day = 24 * 60 * 60 * 1000

let directory: string
let opened: LocalFiles

beforeEach(() => {
  directory = scratchDirectory()
  opened = openLocalFiles(directory)
})

afterEach(() => {
  vi.useRealTimers()
  opened.close()
})

const restart = (now = Date.now()) => {
  opened.close()
  opened = openLocalFiles(directory)
  return tidyBlobs(opened.database.connection, layoutOf(directory), { now, isHeld: false })
}

const put = (key: string, content: string | Buffer) => putObject(opened.files, key, content)

const read = (key: string) => opened.files.read(key, ({ size }) => ({ first: 0, last: size - 1 }))

const onlyBlob = (): string => {
  const [name, another] = readdirSync(join(directory, 'blobs'))
  if (name === undefined || another !== undefined) throw new Error('The folder does not have exactly one blob')
  return join(directory, 'blobs', name)
}

const name = 'f'.repeat(32)

it('Blobs without a row go to the orphans for 7 days, also without a restart (O-16)', async () => {
  const blob = join(directory, 'blobs', name)
  writeFileSync(blob, 'left behind')
  utimesSync(blob, 0, 0)
  const moved = Date.now()
  expect(restart(moved)).toMatchObject({ orphans: 1, damaged: 0 })
  let now = moved
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const path = join(scratchDirectory(), 'data')
  const machine = await openMachine(path, {
    role: 'service',
    durable: false,
    clock: { ...systemClock, wall: () => now },
  })
  renameSync(join(directory, 'orphans', name), join(path, 'orphans', name))
  for (const [age, left] of [
    [7 * day - 1000, [name]],
    [7 * day + 1000, []],
  ] as const) {
    now = moved + age
    vi.advanceTimersByTime(day / 24)
    expect(readdirSync(join(path, 'orphans'))).toEqual(left)
  }
  await machine.close()
})

const otherDisk = ['/dev/shm', '/var/tmp'].find(
  (folder) => existsSync(folder) && statSync(folder).dev !== statSync(tmpdir()).dev,
)

it.skipIf(otherDisk === undefined)('Orphans may be on another disk than the blobs (O-16)', ({ onTestFinished }) => {
  const elsewhere = mkdtempSync(join(otherDisk ?? '', 'site-admin-'))
  onTestFinished(() => rmSync(elsewhere, { recursive: true }))
  rmSync(join(directory, 'orphans'), { recursive: true })
  symlinkSync(elsewhere, join(directory, 'orphans'))
  writeFileSync(join(directory, 'blobs', name), 'left behind')
  expect(restart()).toMatchObject({ orphans: 1 })
  expect([readdirSync(elsewhere), readdirSync(join(directory, 'blobs'))]).toEqual([[name], []])
})

const key = 'live/1001/large'

it.each([
  ['missing', (path: string) => rmSync(path)],
  ['shorter', (path: string) => truncateSync(path, 1000)],
  ['longer', (path: string) => truncateSync(path, 3 * megabyte)],
] as const)('A read fails before its first byte, and a start counts the file: %s (O-15)', async (_, damage) => {
  await put(key, large)
  damage(onlyBlob())
  await expect(read(key)).rejects.toThrow()
  await put('live/1001/other', 'other')
  expect(await read('live/1001/other')).toBeDefined()
  expect(restart()).toMatchObject({ orphans: 0, damaged: 1 })
  expect(await opened.files.find(key)).toMatchObject({ size: large.length })
})

it('The stream of a blob breaks when the blob becomes shorter during a read', async () => {
  await put(key, large)
  const object = await read(key)
  if (!(object?.body instanceof Readable)) throw new Error('The body is not a stream')
  let bytes = 0
  const reading = async () => {
    for await (const chunk of object.body instanceof Readable ? object.body : []) {
      bytes += chunk.length
      truncateSync(onlyBlob(), 100)
    }
  }
  await expect(reading()).rejects.toThrow('shorter')
  expect(bytes).toBeLessThan(large.length)
})

it('A read of a small file in the database fails in the same cases', async () => {
  await put('live/1001/small', 'few bytes')
  opened.database.connection.exec("UPDATE small_contents SET bytes = x'00'")
  await expect(read('live/1001/small')).rejects.toThrow('live/1001/small')
  opened.database.connection.exec('DELETE FROM small_contents')
  await expect(read('live/1001/small')).rejects.toThrow('live/1001/small')
})

describe('A blob that copies share', () => {
  const keys = ['live/1001/a', 'live/1001/b']

  beforeEach(async () => {
    await put('live/1001/a', large)
    const from = await infoOf(opened.files, 'live/1001/a')
    await opened.files.place([{ kind: 'copy', from, key: 'live/1001/b' }], nowhere, entry)
  })

  it('The bytes are stored once, and the next start finds no fault', async () => {
    expect(readdirSync(join(directory, 'blobs'))).toHaveLength(1)
    expect(restart()).toMatchObject({ orphans: 0, damaged: 0 })
    expect(checkObjects(opened.database.connection)).toEqual([])
    for (const key of keys) {
      expect((await bytesIn(opened.files, key))?.equals(large)).toBe(true)
    }
  })

  it('A missing blob is counted for each copy', () => {
    rmSync(onlyBlob())
    expect(restart().damaged).toBe(keys.length)
  })
})

it('A read continues although the file is replaced and its blob removed', async () => {
  await put('live/1001/a', large)
  const object = await read('live/1001/a')
  await put('live/1001/a', Buffer.alloc(megabyte, 'y'))
  await opened.files.giveUp(Number.MAX_SAFE_INTEGER)
  expect(object && (await bytesOf(object)).equals(large)).toBe(true)
  expect(readdirSync(join(directory, 'blobs'))).toHaveLength(1)
})

it('A read starts again if the file is replaced before its bytes are read', async () => {
  await put('live/1001/a', large)
  const old = onlyBlob()
  await put('live/1001/b', 'new')
  let isReplaced = false
  // Another process replaces the file after this process has read its row.
  const replace = () => {
    isReplaced = true
    rmSync(old)
    opened.database.connection.exec(`
      UPDATE objects SET (blob, size, version) =
        (SELECT blob, size, version FROM objects WHERE key = 'live/1001/b') WHERE key = 'live/1001/a'`)
  }
  const object = await opened.files.read('live/1001/a', ({ size }) => {
    if (!isReplaced) replace()
    return { first: 0, last: size - 1 }
  })
  expect(object && (await bytesOf(object)).toString()).toBe('new')
})

it('check names the faulty rows of the database', async () => {
  await put('live/1001/a', 'a')
  expect(checkObjects(opened.database.connection)).toEqual([])
  opened.database.connection.exec(`
    INSERT INTO objects (key, blob, size, modified, type, version)
      VALUES ('live/1001/a/below/', NULL, 0, 0, '', '1'), ('nowhere', NULL, 0, 0, '', '2'),
      ('live/1001/folder/', 'c', 1, 0, '', '3')`)
  const faulty = checkObjects(opened.database.connection).map(({ where }) => where)
  expect(faulty).toEqual(['site 1001, file folder/', 'nowhere', 'site 1001, file a'])
})

it('All bytes of a file are stored although the disk takes few at once', async () => {
  const path = join(directory, 'written')
  await using file = await open(path, 'wx')
  const write = file.write.bind(file)
  const writeFew = (bytes: Buffer, at: number, length: number, position: number) =>
    write(bytes, at, Math.min(length, 100_000), position)
  const writev = (chunks: Buffer[], position: number) => {
    const bytes = Buffer.concat(chunks)
    return writeFew(bytes, 0, bytes.length, position)
  }
  Object.assign(file, { write: writeFew, writev })
  const content = randomBytes(megabyte)
  await writeBlob(file, Readable.from([content, content]), { durable: true })
  expect(readFileSync(path).equals(Buffer.concat([content, content]))).toBe(true)
})

it('The first bytes of a large upload are on the disk before the last ones arrive', async () => {
  await using file = await open(join(directory, 'written'), 'wx')
  const kept = { size: 0 }
  async function* content() {
    yield Buffer.alloc(9 * megabyte)
    yield Buffer.alloc(1)
    await expect.poll(() => kept.size).toBe(9 * megabyte)
  }
  const written = await writeBlob(file, content(), { durable: true, kept })
  expect(written).toEqual({ size: 9 * megabyte + 1 })
})
