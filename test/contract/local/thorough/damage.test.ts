import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { checkDataDirectory } from '../../../../lib/machine/check/check-directory.ts'
import { administer } from '../../../support/administration.ts'
import { makeDirectory, removeDirectory } from '../../../support/directory.ts'
import { snapshotOf } from '../../../support/directory-snapshot.ts'
import { messages, phrase } from '../../../support/messages.ts'
import { faultAt, foundBy } from '../../../support/outcomes.ts'
import { fields, storage } from '../../../support/paths.ts'
import { hostHere } from '../../../support/serve-here.ts'
import { startService } from '../../../support/spawned-service.ts'
import { test as base } from '../../../support/test.ts'

/** A directory with a file in a blob, and with a changed database. */
const makeUsed = async (signal: NodeJS.Signals) => {
  const directory = makeDirectory()
  const service = await startService(directory)
  const stored = await service.request(`${storage}/large.bin`, { method: 'PUT', body: Buffer.alloc(40_000, 'x') })
  const removed = await service.request(`${fields}/-2`, { method: 'DELETE' })
  if (stored.status !== 200 || removed.status !== 200) throw new Error(`${stored.status}, ${removed.status}`)
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

type Fault = readonly [where: RegExp, fault: RegExp | string]
type Damage = readonly [name: string, inflict: (directory: string) => void, refusal?: RegExp | undefined, fault?: Fault]

const main = 'site-admin.db'
const ofDatabase = (fault: RegExp | string): Fault => [/site-admin\.db$/, fault]
const ofFile = (fault: RegExp | string): Fault => [/^site 1001, file large\.bin$/, fault]
const lost = (name: string) => (directory: string) => rmSync(join(directory, name))
const written = (name: string, text: string) => (directory: string) => writeFileSync(join(directory, name), text)
const flipped = (at: number, length: number) => (directory: string) => flipBytes(database(directory), at, length)
const cut = (file: string, by: number) => truncateSync(file, statSync(file).size - by)
const noToken = written('demo.json', '{"siteId":1001,"webFormId":1,"categoryIds":[]}')
const unread = (name: string, why: string): readonly [RegExp, Fault] => [
  cannotBeRead(name, why),
  [new RegExp(`${name}$`), name === 'demo.json' ? check.unreadable(why.replace('…', '')) : cannotBeRead(name, why)],
]

/** Damage, its refusal by the start, and its report by check. The start only warns about damage without refusal. */
const damages: readonly Damage[] = [
  ['the database is missing', lost(main), beforeFirst(main, 'missing'), ofDatabase(check.missing)],
  ['the database is empty', written(main, ''), beforeFirst(main, 'empty'), ofDatabase(phrase`^it is empty`)],
  ['the database is cut', (directory) => cut(database(directory), 8192), damaged, ofDatabase(check.damaged)],
  ['the header of the database has other bytes', flipped(0, 100), damaged, ofDatabase(check.damaged)],
  ['bytes in the middle of the database are flipped', flipped(4096, 12_288), damaged, ofDatabase(check.damaged)],
  ['the WAL is missing after a crash', lost('site-admin.db-wal'), walMissing, [/-wal$/, check.missing]],
  ['nothing is damaged after a crash', () => {}],
  ['a blob is missing', (directory) => rmSync(blobIn(directory)), undefined, ofFile(check.bytesMissing)],
  ['a blob is short', (directory) => cut(blobIn(directory), 23_000), undefined, ofFile(check.blobSize(17_000, 40_000))],
  ['the marker is missing', lost('site-admin.json'), noMarker, [/site-admin\.json$/, noMarker]],
  ['the marker cannot be read', written('site-admin.json', '{"layout":'), ...unread('site-admin.json', '…')],
  ['the demo file cannot be read', written('demo.json', '{"token":"'), ...unread('demo.json', '…')],
  ['the demo file has no token', noToken, ...unread('demo.json', 'it lacks a valid "token"')],
]

test.for(damages)('When %s, start and check agree (O-14, O-15)', async ([name, inflict, refusal, fault], { used }) => {
  const { directory, token } = await used(name.endsWith('after a crash') ? 'killed' : 'stopped')
  inflict(directory)
  const before = snapshotOf(directory)
  if (refusal) {
    await expect(hostHere(directory)).rejects.toThrow(refusal)
    expect(snapshotOf(directory)).toEqual(before)
  }

  const found = foundBy(await administer(directory, ['--json', 'check']))
  const faults = fault ? [faultAt(...fault)] : []
  expect(found).toEqual({ status: faults.length, faults })
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
    printed: faults.map(() => expect.stringMatching(filesDamaged)),
  })
})

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
  const { stdout, stderr } = await administer(directory, ['check', '--bytes'])
  expect(stdout + stderr).toContain('it is in use by another process.')
  expect(stdout + stderr).not.toContain('damaged')
  holder.close()
})
