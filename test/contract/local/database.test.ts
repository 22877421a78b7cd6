import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Database, openImmutable } from '../../../lib/machine/sqlite/database.ts'
import { openWords, scratchFile } from '../../support/scratch-database.ts'

const unavailable = expect.objectContaining({ code: 100503, status: 503 })

/** For SQLite, another connection is like another process: it can lock the database. */
const openAnother = (file: string): DatabaseSync => {
  const another = new DatabaseSync(file)
  onTestFinished(() => another.close())
  return another
}

const settings = ['trusted_schema', 'cell_size_check', 'fullfsync', 'checkpoint_fullfsync']
const settingsOf = (connection: DatabaseSync) =>
  settings.map((name) => connection.prepare(`PRAGMA ${name}`).get()?.[name])

test('a connection distrusts the schema, checks pages, and flushes writes (O-13, O-20)', () => {
  const { file, connection } = openWords()
  expect(settingsOf(connection)).toEqual([0, 1, 1, 1])
  const reading = openImmutable(file)
  onTestFinished(() => reading.close())
  expect(settingsOf(reading).slice(0, 2)).toEqual([0, 1])
})

test('the write-ahead log shrinks again after another process has read for long', async () => {
  const { file, database, connection, add } = openWords()
  const another = openAnother(file)
  const size = () => statSync(`${file}-wal`).size
  another.exec('BEGIN; SELECT count(*) FROM words')
  const text = 'x'.repeat(1_000_000)
  for (let index = 0; index < 20; index++) {
    await database.note(() => connection.exec(`INSERT INTO words (word) VALUES ('${text}${index}')`))
  }
  expect(size()).toBeGreaterThan(2 ** 24)
  another.exec('COMMIT')
  for (const word of ['a', 'b']) await add(word)
  expect(size()).toBeLessThanOrEqual(2 ** 24)
})

test('only one function opens connections, for service, commands, check and backups', () => {
  const root = join(import.meta.dirname, '../../..')
  const makers = globSync('{admin,lib,local,server}/**/*.ts', { cwd: root }).filter((file) =>
    readFileSync(join(root, file), 'utf8').includes('new DatabaseSync('),
  )
  expect(makers).toEqual(['lib/machine/sqlite/database.ts'])
})

test.each([
  ['fails', "INSERT INTO words (word) VALUES ('half'), ('first')"],
  ['rolls back', "INSERT INTO words (word) VALUES ('half'); INSERT OR ROLLBACK INTO words (word) VALUES ('first')"],
])('changes are made even if another change in the same turn of the event loop %s', async (_, sql) => {
  const { database, add, words } = openWords()
  await add('first')
  const failing = () => database.write(() => database.connection.exec(sql))
  const settled = await Promise.allSettled([add('a'), failing(), add('a'), add('b')])
  expect(words()).toEqual(['first', 'a', 'b'])
  const unique = { status: 'rejected', reason: { message: expect.stringContaining('UNIQUE') } }
  expect(settled).toMatchObject([{ status: 'fulfilled' }, unique, unique, { status: 'fulfilled' }])
  await expect(failing()).rejects.toThrow('UNIQUE')
  await add('c')
  expect(words()).toEqual(['first', 'a', 'b', 'c'])
})

test('the changes of one turn share transactions, even if some of them fail', async () => {
  const { file, database, connection, add, words } = openWords()
  await add('first')
  const hidesFailure = database.write(() => {
    try {
      connection.exec("INSERT OR ROLLBACK INTO words (word) VALUES ('first')")
    } catch {}
  })
  const some = Array.from({ length: 100 }, (_, index) => String(index))
  const added = some.slice(0, 50).map(add)
  const refused = database.write(() => {
    connection.exec("INSERT INTO words (word) VALUES ('half')")
    throw new Error('refused by a rule')
  })
  added.push(...some.slice(50).map(add))
  await expect(hidesFailure).rejects.toThrow('no transaction')
  await expect(refused).rejects.toThrow('refused by a rule')
  await Promise.all(added)
  expect(words()).toEqual(['first', ...some])
  expect(statSync(`${file}-wal`).size).toBeLessThan(200_000)
})

test('a change that cannot be committed changes nothing, and locks out nobody', async () => {
  const { file, database, words } = openWords()
  const failing = database.write(() =>
    database.connection.exec(`
      CREATE TABLE notes (word TEXT REFERENCES words (word) DEFERRABLE INITIALLY DEFERRED);
      INSERT INTO words (word) VALUES ('half');
      INSERT INTO notes (word) VALUES ('missing')`),
  )
  await expect(failing).rejects.toThrow('FOREIGN KEY')
  expect(words()).toEqual([])
  openAnother(file).exec('BEGIN IMMEDIATE')
})

test('After a failed flush, changes wait until the WAL is empty (O-20)', async () => {
  const { file, database, connection, add, words } = openWords()
  await add('a')
  const reader = openAnother(file)
  reader.exec('BEGIN; SELECT count(*) FROM words')
  const failing = database.write(() => {
    connection.exec("INSERT INTO words (word) VALUES ('b')")
    throw Object.assign(new Error('The flush failed'), { errcode: 1034 })
  })
  await expect(failing).rejects.toThrow('The flush failed')
  expect(await Promise.allSettled([add('c'), add('d')])).toMatchObject([
    { reason: unavailable },
    { reason: unavailable },
  ])
  reader.exec('COMMIT')
  await add('e')
  expect(words()).toEqual(['a', 'e'])
  using withoutWal = openImmutable(file)
  expect(withoutWal.prepare('SELECT word FROM words').all()).toEqual([{ word: 'a' }])
})

test('writes that do not wait for the disk keep their order, and are not lost', async () => {
  const { file, database, add } = openWords()
  const note = (word: string) =>
    database.note(() => void database.connection.prepare('INSERT INTO words (word) VALUES (?)').run(word))
  await Promise.all([note('a'), add('b'), note('c')])
  await note('d')
  database.close()
  expect(openWords(file).words()).toEqual(['a', 'b', 'c', 'd'])
})

test('other work runs between the reads of a long list, not of a short one', async () => {
  const { database } = openWords()
  const events: string[] = []
  for (const name of ['1', '2', '3', '4', '5']) {
    setImmediate(() => events.push(`before ${name}`))
    await database.read(() => events.push(name), 1_000)
  }
  for (let reads = 0; reads < 50; reads++) await database.read(() => {})
  expect(events).toEqual(['1', '2', '3', 'before 1', 'before 2', 'before 3', 'before 4', '4', '5'])
})

const [normal, full] = [1, 2]
const flushMode = ({ connection }: Pick<Database, 'connection'>) =>
  connection.prepare('PRAGMA synchronous').get()?.['synchronous']

test('changes wait for the disk, but notes (such as the last use of a key) do not', async () => {
  const { database } = openWords()
  const mode = () => flushMode(database)
  expect(await database.note(mode)).toBe(normal)
  expect(await database.write(mode)).toBe(full)
  expect(await Promise.all([database.note(mode), database.write(mode)])).toEqual([full, full])
  expect(await database.note(mode)).toBe(normal)
})

test('after 1,000 transactions that do not wait for the disk, the next one waits', async () => {
  const { database } = openWords()
  const mode = () => flushMode(database)
  for (let count = 0; count < 1_000; count++) expect(await database.note(mode)).toBe(normal)
  expect([await database.note(mode), await database.note(mode)]).toEqual([full, normal])
})

test('changes leave the WAL only after a flush of the WAL that has succeeded (O-20)', async () => {
  const { file, database, connection, add } = openWords()
  const text = 'x'.repeat(5_000_000)
  await database.note(() => connection.exec(`INSERT INTO words (word) VALUES ('${text}')`))
  expect(statSync(file).size).toBeLessThan(text.length)
  await add('b')
  expect(statSync(file).size).toBeGreaterThan(text.length)
})

describe('while another process locks the database', () => {
  afterEach(() => void vi.useRealTimers())

  test('changes wait, and are made once and in order after the lock is released', async () => {
    const { file, add, words } = openWords()
    const another = openAnother(file)
    another.exec("BEGIN IMMEDIATE; INSERT INTO words (word) VALUES ('theirs')")
    const waiting = ['a', 'b'].map(add)
    await turn()
    await turn()
    waiting.push(add('c'))
    expect(words()).toEqual([])
    another.exec('COMMIT')
    await Promise.all(waiting)
    expect(words()).toEqual(['theirs', 'a', 'b', 'c'])
  })

  test('changes are refused with 503 after 5 seconds, and never made', async () => {
    const { file, add, words } = openWords()
    const another = openAnother(file)
    another.exec('BEGIN IMMEDIATE')
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
    const refused = expect(add('a')).rejects.toThrow(unavailable)
    await turn()
    await vi.advanceTimersByTimeAsync(3_000)
    const late = add('b')
    await vi.advanceTimersByTimeAsync(2_500)
    await refused
    another.exec('ROLLBACK')
    await vi.advanceTimersByTimeAsync(100)
    await turn()
    await late
    expect(words()).toEqual(['b'])
  })

  test('reads are repeated for 5 seconds, and then refused with 503', async () => {
    const { database } = openWords()
    vi.useFakeTimers({ toFake: ['performance'] })
    const read = vi.fn(() => {
      vi.advanceTimersByTime(1_000)
      throw Object.assign(new Error('The database is locked'), { errcode: 5 })
    })
    await expect(database.read(read)).rejects.toThrow(unavailable)
    expect(read).toHaveBeenCalledTimes(6)
  })

  test('closing the connection refuses waiting changes', async () => {
    const { file, database, add } = openWords()
    const another = openAnother(file)
    another.exec('BEGIN IMMEDIATE')
    const refused = Promise.allSettled([add('a'), add('b')])
    database.close()
    expect(await refused).toMatchObject([{ reason: { code: 100503 } }, { reason: { code: 100503 } }])
    another.exec('ROLLBACK')
    expect(openWords(file).words()).toEqual([])
  })

  test('an iterator that was left open does not lose a change', async () => {
    const { file, connection, add, words } = openWords()
    await Promise.all([add('a'), add('b')])
    const open = connection.prepare('SELECT word FROM words').iterate()
    open.next()
    openAnother(file).exec("INSERT INTO words (word) VALUES ('theirs')")
    const waiting = add('c')
    await turn()
    await turn()
    open.return?.()
    await waiting
    expect(words()).toEqual(['a', 'b', 'theirs', 'c'])
  })
})

test('before the database closes, all waiting changes are made, even thousands', async () => {
  const { file, database, add } = openWords()
  const words = Array.from({ length: 3_000 }, (_, index) => String(index))
  const asked = words.map(add)
  database.close()
  await Promise.all(asked)
  expect(openWords(file).words()).toEqual(words)
})

test('closing twice is harmless, and later changes are refused', async () => {
  const { database, add } = openWords()
  database.close()
  database.close()
  await expect(add('a')).rejects.toThrow(unavailable)
})

const moduleOf = (name: string) => JSON.stringify(import.meta.resolve(`../../../lib/machine/sqlite/${name}.ts`))

/** Opens the database like any other process, and counts up, three changes at a time. */
const program = `
    import { openDatabase } from ${moduleOf('database')}
    import { prepareSchema } from ${moduleOf('schema')}
    const [file, times] = process.argv.slice(1)
    const database = openDatabase(file, { durable: false })
    prepareSchema(database.connection)
    const increment = database.connection.prepare(
      "INSERT INTO removal_queue (site, path, id) SELECT count(*), '', '' FROM removal_queue")
    for (let time = 0; time < Number(times); time += 3)
      await Promise.all([1, 2, 3].map(() => database.write(() => increment.run())))
    database.close()`

test('several processes open a database at once without lost or repeated changes', async () => {
  const file = scratchFile()
  // The lock of the data directory lets only one process at a time begin the WAL. SQLite itself would not wait.
  openAnother(file).exec('PRAGMA journal_mode = WAL')
  const processes = Array.from({ length: 3 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', program, file, '300'], { stdio: 'inherit' }),
  )
  const ends = await Promise.all(processes.map((each) => once(each, 'exit')))
  expect(ends.map(([code]) => code)).toEqual([0, 0, 0])
  const rows = openAnother(file).prepare('SELECT site FROM removal_queue ORDER BY number').all()
  expect(rows.map(({ site }) => site)).toEqual(Array.from({ length: 900 }, (_, index) => index))
})
