import { chmodSync, existsSync } from 'node:fs'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished } from 'vitest'
import { administer, administerJson } from '../../../support/administration.ts'
import { tamper } from '../../../support/backups.ts'
import { snapshotOf } from '../../../support/directory-snapshot.ts'
import { listenInTest } from '../../../support/listen.ts'
import { messages, phrase } from '../../../support/messages.ts'
import { failing } from '../../../support/outcomes.ts'
import { launch, launchOnTerminal, run, runInShell } from '../../../support/program.ts'
import { test } from '../../../support/test.ts'

const startOn = (directory: string, flags: readonly string[] = ['--port', '0']) =>
  run('local/main.js', ['--json', '--data-dir', directory, ...flags])

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

/** A directory of a version of the service before 0.1.0. */
const makeOldDirectory = async (directory: string) => {
  for (const folder of ['tables', 'objects/blobs', 'run']) await mkdir(join(directory, folder), { recursive: true })
  for (const file of ['tables/CURRENT', 'objects/index.db', 'objects/blobs/1', 'demo.json']) {
    await writeFile(join(directory, file), file)
  }
  new DatabaseSync(join(directory, 'run', 'lock')).close()
}

test.for([
  ['--port', ''],
  ['--data-centres', 'us:0,eu:'],
] as const)('a start fails if the port of %s is in use', async ([flag, before], { directory }) => {
  const port = Number(new URL(await listenInTest(createServer())).port)
  const outcome = await startOn(directory, [flag, before + port])
  expect(outcome).toMatchObject({ status: 1, stdout: '', stderr: messages.start.portTaken(port) })
})

test('a start fails if a setting is wrong, before --reset removes anything', async ({ dataDirectory }) => {
  const before = snapshotOf(dataDirectory)
  const flags = ['--port', '0', '--reset', '--yes']
  const wrong = { LARGEST_FILE: 'huge', FSYNC: 'maybe' }
  const outcome = await launch('local/main.js', [...flags, '--data-dir', dataDirectory], wrong).ended
  const settings = 'LARGEST_FILE (must be a whole number from 1 to 5368709120), FSYNC (must be one of on, off)'
  expect(outcome).toMatchObject({ status: 1, stdout: '', stderr: `Settings missing or wrong: ${settings}.\n` })
  expect(snapshotOf(dataDirectory)).toEqual(before)
})

test('a start fails if the directory is below a file', async ({ directory }) => {
  const file = join(directory, 'file')
  await writeFile(file, '')
  for (const path of [file, join(file, 'data')]) {
    expect(await startOn(path)).toMatchObject(failing(messages.directory.belowFile))
  }
})

const makeForeign = (directory: string) => writeFile(join(directory, 'notes.txt'), 'mine')

const { foreign, old } = messages.directory

test.for([
  ['has other files (O-10)', makeForeign, [], foreign],
  ['has other files (O-10)', makeForeign, ['--reset'], foreign],
  ['has other files (O-10)', makeForeign, ['--reset', '--yes'], foreign],
  ['is of an early version (O-17)', makeOldDirectory, [], old],
] as const)('A start does not change a directory that %s', async ([, make, flags, sentence], { directory }) => {
  await make(directory)
  const before = snapshotOf(directory)
  const outcome = await startOn(directory, ['--port', '0', ...flags])
  expect(outcome).toMatchObject(failing(sentence))
  expect(snapshotOf(directory)).toEqual(before)
})

/** Fills the directory with rows, as the requests of callers would leave them. */
const fill = (directory: string) => {
  const numbers = 'WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < 1204)'
  tamper(
    directory,
    `INSERT INTO sites (id, name, data_centre, rendering_engine) VALUES (7, 'Seven', 'us', 1), (8, 'Eight', 'us', 1);
     INSERT INTO objects VALUES ('live/7/folder/', NULL, 0, 0, '', '1', NULL);
     INSERT INTO objects ${numbers} SELECT 'live/7/' || n, 'blob' || n, 1, 0, 'text/plain', '1', NULL FROM numbers`,
  )
}

const loseTable = (directory: string) => tamper(directory, 'DROP TABLE objects')

const damage = (directory: string) => writeFile(join(directory, 'site-admin.db'), 'x'.repeat(50_000))

const resetOnTerminal = (directory: string) => {
  const program = launchOnTerminal('local/main.js', ['--port', '0', '--reset', '--data-dir', directory])
  onTestFinished(() => program.kill('SIGKILL'))
  return program
}

describe('--reset asks before it removes anything (O-11)', () => {
  const filled = '3 sites with 1,204 files'
  const unread = 'all data'

  test.for([
    ['n', 'filled', fill, filled],
    ['', 'filled', fill, filled],
    ['no', 'damaged', damage, unread],
  ] as const)(
    'after the answer "%s", a %s directory stays unchanged',
    async ([answer, , prepare, question], { siteDirectory: directory }) => {
      await prepare(directory)
      const before = snapshotOf(directory)
      const program = resetOnTerminal(directory)
      program.stdin.write(`${answer}\n`)
      const { status, stdout } = await program.ended
      const doubt = prepare === damage ? ' (its database cannot be read)' : ''
      expect(stdout).toContain(`This removes ${question} from ${directory}${doubt}. Continue? [y/N] `)
      expect(stdout).toMatch(phrase`\nNothing was removed. …\r$`)
      expect(status).toBe(1)
      expect(snapshotOf(directory)).toEqual(before)
    },
  )

  test('after the answer "y", the service starts with an empty directory', async ({ siteDirectory: directory }) => {
    const program = resetOnTerminal(directory)
    program.stdin.write('y\n')
    while (!(await program.line()).startsWith('Stop it'));
    program.stdin.write('\u0003')
    expect(await program.ended).toMatchObject({ status: 0 })
    expect(await administerJson(directory, ['site', 'list'])).toMatchObject([{ name: 'Demo site' }])
  })

  test.for([
    ['filled', fill, filled],
    ['damaged', damage, unread],
    ['partial', loseTable, unread],
  ] as const)('without a terminal, a %s directory needs --yes', async ([, prepare, loss], { siteDirectory, start }) => {
    await prepare(siteDirectory)
    const before = snapshotOf(siteDirectory)
    const outcome = await startOn(siteDirectory, ['--port', '0', '--reset'])
    expect(outcome).toMatchObject(failing(messages.directory.notReset(loss, siteDirectory)))
    expect(snapshotOf(siteDirectory)).toEqual(before)

    await start(['--port', '0', '--reset', '--yes'])
    expect(await administerJson(siteDirectory, ['site', 'list'])).toMatchObject([{ name: 'Demo site' }])
  })

  test('an empty or unfinished directory needs no confirmation', async ({ directory, start }) => {
    const empty = await start(['--port', '0', '--reset'])
    expect(await empty.stop()).toMatchObject({ status: 0, stderr: '' })
    await writeFile(join(directory, 'site-admin.json'), '{"service":"site-admin","layout":1,"ready":false}')
    const half = await start(['--port', '0', '--reset'])
    expect(await half.stop()).toMatchObject({ status: 0, stderr: '' })
  })
})

test('--reset --yes replaces an early data directory, but no other files (O-17)', async ({ directory, start }) => {
  await makeOldDirectory(directory)
  await makeForeign(directory)
  const service = await start(['--port', '0', '--reset', '--yes'])
  expect((await service.request('/health')).status).toBe(200)
  const names = await readdir(directory)
  expect(names).toContain('notes.txt')
  for (const old of ['tables', 'objects', 'run']) expect(names).not.toContain(old)
})

test('--reset does not touch a directory on which an early version is running', async ({ directory }) => {
  await makeOldDirectory(directory)
  const before = snapshotOf(directory)
  const other = new DatabaseSync(join(directory, 'run', 'lock'))
  other.exec('BEGIN EXCLUSIVE')
  const outcome = await startOn(directory, ['--port', '0', '--reset'])
  other.close()
  expect(outcome).toMatchObject(failing('is in use by another process'))
  expect(snapshotOf(directory)).toEqual(before)
})

test('commands treat an unfinished directory like a missing one (T-6)', async ({ directory }) => {
  const missing = join(directory, 'missing')
  for (const path of [directory, missing]) {
    const outcome = await administer(path, ['site', 'list'])
    expect(outcome).toMatchObject(failing(messages.directory.missing))
    expect(outcome.stderr).toContain(path)
  }
  expect(existsSync(missing)).toBe(false)
  expect(await readdir(directory)).toEqual([])
})

test('other users can read nothing in the directory, whatever the umask (O-12)', async ({ directory, start }) => {
  const path = join(directory, 'data')
  const before = process.umask(0o000)
  try {
    await start(['--port', '0', '--data-dir', path])
  } finally {
    process.umask(before)
  }
  expect(await modeOf(path)).toBe('700')
  for (const name of await readdir(path, { recursive: true })) {
    const found = await stat(join(path, name))
    expect({ name, mode: await modeOf(join(path, name)) }).toEqual({ name, mode: found.isDirectory() ? '700' : '600' })
  }
})

test('no compiled code is kept where other users can write (O-12)', async ({ directory }) => {
  const line = 'env -u NODE_COMPILE_CACHE TMPDIR="$1" "$node" admin/main.js --version'
  expect(await runInShell(line, [directory])).toMatchObject({ status: 0, stderr: '' })
  expect(await readdir(directory)).toEqual([])
})

test('the next start removes the rights of other users to read the directory', async ({ dataDirectory, start }) => {
  chmodSync(dataDirectory, 0o755)
  await start()
  expect(await modeOf(dataDirectory)).toBe('700')
})
