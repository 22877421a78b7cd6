import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { cp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { checkDataDirectory } from '../../../../lib/machine/check/check-directory.ts'
import { administer } from '../../../support/administration.ts'
import { makeDirectory, removeDirectory } from '../../../support/directory.ts'
import { snapshotOf } from '../../../support/directory-snapshot.ts'
import { messages } from '../../../support/messages.ts'
import { fields, storage } from '../../../support/paths.ts'
import { hostHere } from '../../../support/serve-here.ts'
import { type SpawnedService, startService } from '../../../support/spawned-service.ts'
import { test as base } from '../../../support/test.ts'

/** Stores a file in a blob, and changes the database. */
const fill = async (service: SpawnedService): Promise<void> => {
  const stored = await service.request(`${storage}/large.bin`, { method: 'PUT', body: Buffer.alloc(40_000, 'x') })
  const removed = await service.request(`${fields}/-2`, { method: 'DELETE' })
  if (stored.status !== 200 || removed.status !== 200) throw new Error(`${stored.status}, ${removed.status}`)
}

const makeUsed = async (signal: NodeJS.Signals) => {
  const directory = makeDirectory()
  const service = await startService(directory)
  await fill(service)
  service.kill(signal)
  await service.ended
  return { directory, token: service.token }
}

const test = base
  .extend('templates', { scope: 'file' }, async ({}, { onCleanup }) => {
    const [stopped, killed] = await Promise.all([makeUsed('SIGTERM'), makeUsed('SIGKILL')])
    onCleanup(() => {
      for (const { directory } of [stopped, killed]) removeDirectory(directory)
    })
    return { stopped, killed }
  })
  .extend('used', async ({ directory, templates }) => async (ending: 'stopped' | 'killed') => {
    const { directory: template, token } = templates[ending]
    await cp(template, directory, { recursive: true })
    return { directory, token }
  })

const database = (directory: string): string => join(directory, 'site-admin.db')
const blobIn = (directory: string): string => join(directory, 'blobs', readdirSync(join(directory, 'blobs'))[0] ?? '')

const flipBytes = (file: string, at: number, length: number) => {
  const bytes = readFileSync(file)
  for (let index = at; index < at + length; index += 1) bytes[index] = (bytes[index] ?? 0) ^ 0xff
  writeFileSync(file, bytes)
}

const { beforeFirst, cannotBeRead, damaged, filesDamaged, layout, noMarker, walMissing } = messages.directory
const { check } = messages

interface Damage {
  readonly name: string
  readonly killed?: true
  readonly inflict: (directory: string) => void
  readonly refusal?: RegExp
  readonly warning?: RegExp
  readonly fault?: readonly [where: RegExp, fault: RegExp | string]
}

const damages: readonly Damage[] = [
  {
    name: 'the database is missing',
    inflict: (directory) => rmSync(database(directory)),
    refusal: beforeFirst('site-admin.db', 'missing'),
    fault: [/site-admin\.db$/, check.missing],
  },
  {
    name: 'the database is empty',
    inflict: (directory) => truncateSync(database(directory), 0),
    refusal: beforeFirst('site-admin.db', 'empty'),
    fault: [/site-admin\.db$/, check.isEmpty],
  },
  {
    name: 'the database is cut',
    inflict: (directory) => truncateSync(database(directory), statSync(database(directory)).size - 8192),
    refusal: damaged,
    fault: [/site-admin\.db$/, check.damaged],
  },
  {
    name: 'the header of the database has other bytes',
    inflict: (directory) => flipBytes(database(directory), 0, 100),
    refusal: damaged,
    fault: [/site-admin\.db$/, check.damaged],
  },
  {
    name: 'bytes in the middle of the database are flipped',
    inflict: (directory) => flipBytes(database(directory), 4096, 12_288),
    refusal: damaged,
    fault: [/site-admin\.db$/, check.damaged],
  },
  {
    name: 'the WAL is missing after a crash',
    killed: true,
    inflict: (directory) => rmSync(`${database(directory)}-wal`),
    refusal: walMissing,
    fault: [/-wal$/, check.missing],
  },
  { name: 'nothing is damaged after a crash', killed: true, inflict: () => {} },
  {
    name: 'a blob is missing',
    inflict: (directory) => rmSync(blobIn(directory)),
    warning: filesDamaged,
    fault: [/^site 1001, file large\.bin$/, check.bytesMissing],
  },
  {
    name: 'a blob is short',
    inflict: (directory) => truncateSync(blobIn(directory), 17_000),
    warning: filesDamaged,
    fault: [/^site 1001, file large\.bin$/, check.blobSize(17_000, 40_000)],
  },
  {
    name: 'the marker is missing',
    inflict: (directory) => rmSync(join(directory, 'site-admin.json')),
    refusal: noMarker,
    fault: [/site-admin\.json$/, noMarker],
  },
  {
    name: 'the marker cannot be read',
    inflict: (directory) => writeFileSync(join(directory, 'site-admin.json'), '{"layout":'),
    refusal: cannotBeRead('site-admin.json', '…'),
    fault: [/site-admin\.json$/, cannotBeRead('site-admin.json', '…')],
  },
  {
    name: 'the demo file cannot be read',
    inflict: (directory) => writeFileSync(join(directory, 'demo.json'), '{"token":"'),
    refusal: cannotBeRead('demo.json', '…'),
    fault: [/demo\.json$/, check.unreadable('')],
  },
  {
    name: 'the demo file has no token',
    inflict: (directory) =>
      writeFileSync(join(directory, 'demo.json'), '{"siteId":1001,"webFormId":1,"categoryIds":[]}'),
    refusal: cannotBeRead('demo.json', 'it lacks "token"'),
    fault: [/demo\.json$/, check.unreadable('it lacks "token"')],
  },
]

test.for(damages)(
  'When $name, the start and check give the same report, and change nothing (O-15)',
  async ({ killed, inflict, refusal, warning, fault }, { used }) => {
    const { directory, token } = await used(killed ? 'killed' : 'stopped')
    inflict(directory)
    const before = snapshotOf(directory)
    if (refusal) {
      await expect(hostHere(directory)).rejects.toThrow(refusal)
      expect(snapshotOf(directory)).toEqual(before)
    }

    const { status, stdout } = await administer(directory, ['--json', 'check'])
    const [where, what] = fault ?? []
    const faults = fault
      ? [{ where: expect.stringMatching(where ?? ''), fault: expect.stringMatching(what ?? '') }]
      : []
    expect({ status, ...JSON.parse(stdout) }).toEqual({ status: faults.length, faults })
    const thoroughly = await checkDataDirectory(directory, { withBytes: true })
    expect(thoroughly.filter((each) => !check.bytesUnread.test(each.fault))).toEqual(faults)
    expect(snapshotOf(directory)).toMatchObject(before)

    if (refusal) return
    const printed: string[] = []
    const service = await hostHere(directory, { say: (sentence) => printed.push(sentence) })
    const answer = await fetch(`${service.baseUrl}${fields}/-2`, { headers: { Authorization: token } })
    await service.stop()
    expect({ status: answer.status, printed }).toEqual({
      status: 404,
      printed: warning ? [expect.stringMatching(warning)] : [],
    })
  },
)

test('The layout of a newer version is refused by the start and by check', async ({ used }) => {
  const { directory } = await used('stopped')
  await writeFile(join(directory, 'site-admin.json'), '{"service":"site-admin","layout":2,"ready":true}')
  const before = snapshotOf(directory)
  const sentence = layout(2)
  await expect(hostHere(directory)).rejects.toThrow(sentence)
  expect((await administer(directory, ['check'])).stderr).toMatch(sentence)
  expect(snapshotOf(directory)).toEqual(before)
})

test('A database that another process has open is not reported as damaged', async ({ used }) => {
  const { directory } = await used('killed')
  const holder = new DatabaseSync(database(directory))
  holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE')
  await expect(hostHere(directory)).rejects.toThrow(messages.directory.databaseInUse)
  holder.close()
})

test('A copy of the running directory without the WAL is refused (O-14)', async ({ start: serve, directory }) => {
  const service = await serve()
  await fill(service)
  const copy = `${directory}-copy`
  await cp(directory, copy, { recursive: true })
  try {
    await rm(join(copy, 'site-admin.db-wal'))
    const before = snapshotOf(copy)
    await expect(hostHere(copy)).rejects.toThrow(walMissing)
    expect(snapshotOf(copy)).toEqual(before)
  } finally {
    await rm(copy, { recursive: true })
  }
})
