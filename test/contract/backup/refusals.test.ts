import fs, {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { takeLock } from '../../../lib/machine/directory/locks.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { administer } from '../../support/administration.ts'
import {
  backUp,
  blobOf,
  contentOf,
  faultsOf,
  modesIn,
  read,
  replaceBlob,
  restore,
  tamper,
  test,
  unfinishedIn,
} from '../../support/backups.ts'
import { snapshotOf } from '../../support/directory-snapshot.ts'
import { messages, phrase } from '../../support/messages.ts'
import { failing } from '../../support/outcomes.ts'

const { backup: refusals, check } = messages

test.for([
  ['into a folder with files', (folder: string) => folder, 'is not empty. Name a folder that does not exist yet.'],
  ['at the path of a file', (folder: string) => join(folder, 'site-admin.json'), refusals.notAFolder],
  ['into a missing parent folder', (folder: string) => join(folder, 'no/where'), '/no for the'],
  ['inside the data directory', (folder: string) => join(folder, 'backup'), 'is inside the data directory'],
] as const)('a backup %s is refused', async ([, target, sentence], { siteDirectory }) => {
  const before = snapshotOf(siteDirectory)
  await expect(backUp(siteDirectory, target(siteDirectory))).rejects.toThrow(sentence)
  expect(snapshotOf(siteDirectory)).toEqual(before)
})

test('backup, restore and check need a data directory instead of a deployment', async ({ place }) => {
  for (const args of [['backup', place.backup], ['restore', place.backup], ['check']]) {
    const outcomeOn = (target: string) => administer(place.data, ['--target', target, ...args])
    expect(await outcomeOn('local')).toEqual(failing(/^.+\n$/))
    expect(await outcomeOn('aws')).toEqual(failing(refusals.onlyOneMachine))
  }
  expect(readdirSync(place.folder)).toEqual([])
})

test('a backup with a damaged file needs consent', async ({ backedUp: { data, folder, restored } }) => {
  await replaceBlob(data)
  const target = join(folder, 'again')
  const outcome = await administer(data, ['backup', target, '--bytes'])
  expect(outcome).toEqual(failing(refusals.fileDamaged(check.bytesDiffer)))
  expect(readdirSync(folder).toSorted()).toEqual(['backup', 'data'])

  const even = { evenIfDamaged: true, withBytes: true }
  expect(await backUp(data, target, even)).toMatchObject({ damaged: 1 })
  expect(await faultsOf(target)).toMatchObject([{ where: 'site 1001, file large.bin' }])
  await expect(restore(target, restored)).rejects.toThrow(refusals.some(1, check.bytesDiffer))
  expect(await restore(target, restored, even)).toMatchObject({ damaged: 1 })
})

test('a backup with a short file is refused before its bytes are read', async ({ backedUp: { data, folder } }) => {
  truncateSync(blobOf(data), 17_000)
  const fault = phrase`${check.size(17_000, 40_064)}. … No backup was made.$`
  await expect(backUp(data, join(folder, 'again'))).rejects.toThrow(fault)
  expect(readdirSync(folder).toSorted()).toEqual(['backup', 'data'])
})

test('a backup onto a full disk is refused', async ({ mountDisk, backedUp: { data, backup } }) => {
  const disk = mountDisk(8)
  const [target, restored, empty] = [join(disk.path, 'backup'), join(disk.path, 'restored'), join(disk.path, 'empty')]
  mkdirSync(empty)
  disk.fill()
  await expect(backUp(data, target)).rejects.toThrow(phrase`^The disk is full. … The incomplete backup was removed.$`)
  for (const each of [restored, empty]) await expect(restore(backup, each)).rejects.toThrow(refusals.restoreFull)
  expect(readdirSync(disk.path).toSorted()).toEqual(['empty', 'filler'])
  expect(readdirSync(empty)).toEqual([])

  // On another file system blobs are copied, not linked.
  disk.makeRoom()
  await expect(backUp(data, disk.path)).rejects.toThrow(/is not empty|is the root of a file system/)
  await backUp(data, target)
  expect(await faultsOf(target)).toEqual([])
  expect(modesIn(target)).toEqual(new Set(['folder 700', 'file 600']))
})

test('A backup whose last flush fails is removed', async ({ backedUp: { data, folder }, onTestFinished }) => {
  const target = join(folder, 'again')
  const { fsyncSync } = fs
  const flush = vi.spyOn(fs, 'fsyncSync').mockImplementation((file) => {
    if (existsSync(target)) throw Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'fsync' })
    fsyncSync(file)
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    flush.mockRestore()
    syncBuiltinESMExports()
  })
  await expect(backUp(data, target)).rejects.toThrow(phrase`EIO. The incomplete backup was removed.$`)
  expect(readdirSync(folder).toSorted()).toEqual(['backup', 'data'])
})

test('a backup removes what killed backups have left beside it', async ({ backedUp: { data, folder } }) => {
  const foreign = 'notes.unfinished-89abcdef'
  mkdirSync(join(folder, foreign))
  const begin = (name: string) => {
    mkdirSync(join(folder, name, 'blobs'), { recursive: true })
    return takeLock(join(folder, name, 'unfinished'), 'exclusive')
  }
  begin('2026-11-27.unfinished-0123abcd')?.[Symbol.dispose]()
  using _running = begin('2026-11-28.unfinished-4567abcd')
  await backUp(data, join(folder, 'next'))
  expect(unfinishedIn(folder).toSorted()).toEqual(['2026-11-28.unfinished-4567abcd', foreign])
})

test('a restoration from a folder that is no backup is refused', async ({ backedUp: { data, folder, restored } }) => {
  await expect(restore(join(folder, 'nothing'), restored)).rejects.toThrow(refusals.missing('nothing'))
  await expect(restore(data, restored)).rejects.toThrow(phrase`is not a complete backup: … Nothing was changed`)
  expect(existsSync(restored)).toBe(false)
})

test('a restoration into a directory that is in use or not empty is refused', async ({ backedUp, serve }) => {
  const { data, folder, backup } = backedUp
  await expect(restore(backup, data)).rejects.toThrow(refusals.targetFilled)
  await expect(restore(backup, folder)).rejects.toThrow(phrase`has files, but no …: it is not a data directory`)
  await expect(restore(backup, backup)).rejects.toThrow(messages.directory.isBackup)
  const service = await serve(data)
  expect(await administer(data, ['restore', backup])).toEqual(failing(refusals.targetFilled))
  expect(await read(service, 'large.bin')).toEqual(contentOf('a'))
})

test('a restoration into another data directory or backup is refused (O-25)', async ({ backedUp }) => {
  const { data, folder, backup } = backedUp
  const link = join(folder, 'link')
  symlinkSync(data, link)
  for (const target of [join(data, 'blobs', 'copy'), join(link, 'no', 'where')])
    await expect(restore(backup, target)).rejects.toThrow(refusals.inside('data directory'))
  const other = join(folder, 'other')
  await backUp(data, other)
  await expect(restore(backup, join(other, 'copy'))).rejects.toThrow(refusals.inside('backup'))
  const nested = join(data, 'nested')
  await expect(openMachine(nested, { role: 'service' })).rejects.toThrow(refusals.inside('data directory'))
  expect([existsSync(join(data, 'no')), existsSync(nested)]).toEqual([false, false])
})

type Inflict = (backup: string) => unknown

const changed =
  (name: string, change: (bytes: Buffer) => Buffer | string): Inflict =>
  (backup) =>
    writeFileSync(join(backup, name), change(readFileSync(join(backup, name))))
const [database, marker] = ['site-admin.db', 'site-admin-backup.json']
const ofNewLayout = (bytes: Buffer) => String(bytes).replace('"layout":1', '"layout":9')
const grow: Inflict = (backup) => appendFileSync(blobOf(backup), 'more')
/** A file that other users can read is copied, not linked. */
const open: Inflict = (backup) => chmodSync(blobOf(backup), 0o644)

const damages: readonly (readonly [name: string, inflict: readonly Inflict[], sentence: RegExp])[] = [
  ['without its database', [(backup) => rm(join(backup, database))], refusals.fault(database)],
  [
    'with a damaged database',
    [changed(database, (bytes) => bytes.fill(0xff, 4_096, 20_000))],
    refusals.fault(database),
  ],
  ['of another version', [(backup) => tamper(backup, 'PRAGMA user_version = 9')], refusals.otherTables(9)],
  ['of another layout', [changed(marker, ofNewLayout)], /which uses another layout. Restore it with that version/],
  ['with an empty marker', [changed(marker, () => '{}')], refusals.fault(' does not describe its contents')],
  ['without a file', [(backup) => renameSync(blobOf(backup), join(backup, 'x'))], refusals.some(1, check.missing)],
  ['with a grown file', [grow], refusals.some(1, check.size(40_068, 40_064))],
  ['with a grown file that must be copied', [grow, open], refusals.some(1, check.size(40_068, 40_064))],
  ['with other bytes in a file', [replaceBlob], refusals.some(1, check.bytesDiffer)],
]

test.for(damages)('no backup %s is restored', async ([, inflict, sentence], { backedUp: { backup, restored } }) => {
  for (const one of inflict) await one(backup)
  await expect(restore(backup, restored)).rejects.toThrow(sentence)
  expect(existsSync(restored)).toBe(false)
  // The empty folder is still empty after the refusal.
  mkdirSync(restored)
  await expect(restore(backup, restored)).rejects.toThrow(sentence)
  expect(readdirSync(restored)).toEqual([])
})

test('other users cannot read a restored file, even if they can read the backup', async ({ backedUp }) => {
  const { backup, restored } = backedUp
  chmodSync(blobOf(backup), 0o644)
  await restore(backup, restored)
  expect(statSync(blobOf(restored)).mode & 0o777).toBe(0o600)
})

test('a restoration that cannot write its marker leaves nothing behind', async ({ backedUp: { backup, restored } }) => {
  mkdirSync(restored)
  const { signal } = new AbortController()
  vi.spyOn(signal, 'throwIfAborted').mockImplementation(() => {
    // A file cannot replace a folder.
    mkdirSync(join(restored, 'site-admin.json.new'))
    throw new Error('It was ended')
  })
  await expect(restore(backup, restored, { signal })).rejects.toThrow('It was ended')
  expect(readdirSync(restored)).toEqual([])
})

test('the service and commands refuse a backup as a data directory, with advice', async ({ backedUp: { backup } }) => {
  const sentence = messages.directory.isBackup
  await expect(openMachine(backup, { role: 'service' })).rejects.toThrow(sentence)
  expect(await administer(backup, ['site', 'list'])).toEqual(failing(sentence))
})

test('check reports blobs of a backup that belong to no file', async ({ backedUp: { backup } }) => {
  const stray = join(backup, 'blobs', 'stray')
  linkSync(blobOf(backup), stray)
  expect(await faultsOf(backup)).toEqual([{ where: stray, fault: check.ofNoFile }])
})
