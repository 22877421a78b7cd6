import {
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
import { join } from 'node:path'
import { expect, vi } from 'vitest'
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
import { messages } from '../../support/messages.ts'

test.for([
  ['into a folder with files', (folder: string) => folder, messages.backup.notEmpty],
  ['at the path of a file', (folder: string) => join(folder, 'site-admin.json'), messages.backup.notAFolder],
  ['into a missing parent folder', (folder: string) => join(folder, 'no/where'), messages.backup.noParent],
  ['inside the data directory', (folder: string) => join(folder, 'backup'), messages.backup.insideData],
] as const)('a backup %s is refused', async ([, target, sentence], { siteDirectory }) => {
  const before = snapshotOf(siteDirectory)
  await expect(backUp(siteDirectory, target(siteDirectory))).rejects.toThrow(sentence)
  expect(snapshotOf(siteDirectory)).toEqual(before)
})

test('backup, restore and check are refused without a data directory, and on a deployment', async ({ place }) => {
  for (const args of [['backup', place.backup], ['restore', place.backup], ['check']]) {
    for (const [target, sentence] of [
      ['local', /^.+\n$/],
      ['aws', messages.backup.onlyOneMachine],
    ] as const) {
      const outcome = await administer(place.data, ['--target', target, ...args])
      expect(outcome).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(sentence) })
    }
  }
  expect(readdirSync(place.folder)).toEqual([])
})

test('a backup with a damaged file needs the consent of the caller', async ({
  backedUp: { data, folder, restored },
}) => {
  await replaceBlob(data)
  const target = join(folder, 'again')
  const outcome = await administer(data, ['backup', target, '--bytes'])
  expect(outcome).toMatchObject({ status: 1, stdout: '' })
  expect(outcome.stderr).toMatch(messages.backup.fileDamaged(messages.check.bytesDiffer))
  expect(readdirSync(folder).toSorted()).toEqual(['backup', 'data'])

  const even = { evenIfDamaged: true, withBytes: true }
  expect(await backUp(data, target, even)).toMatchObject({ damaged: 1 })
  expect(await faultsOf(target)).toMatchObject([{ where: 'site 1001, file large.bin' }])
  await expect(restore(target, restored)).rejects.toThrow(messages.backup.some(1, messages.check.bytesDiffer))
  expect(await restore(target, restored, even)).toMatchObject({ damaged: 1 })
})

test('a backup with a short file is refused before its bytes are read', async ({ backedUp: { data, folder } }) => {
  truncateSync(blobOf(data), 17_000)
  const fault = messages.backup.tooShort(messages.check.size(17_000, 40_064))
  await expect(backUp(data, join(folder, 'again'))).rejects.toThrow(fault)
  expect(readdirSync(folder).toSorted()).toEqual(['backup', 'data'])
})

test('a backup onto a full disk is refused', async ({ mountDisk, backedUp: { data, backup } }) => {
  const disk = mountDisk(8)
  const [target, restored] = [join(disk.path, 'backup'), join(disk.path, 'restored')]
  disk.fill()
  await expect(backUp(data, target)).rejects.toThrow(messages.backup.full)
  await expect(restore(backup, restored)).rejects.toThrow(messages.backup.restoreFull)
  expect(unfinishedIn(disk.path)).toEqual([])

  // On another file system blobs are copied, not linked.
  disk.makeRoom()
  await expect(backUp(data, disk.path)).rejects.toThrow(messages.backup.unusableDisk)
  await backUp(data, target)
  expect(await faultsOf(target)).toEqual([])
  expect(modesIn(target)).toEqual(new Set(['folder 700', 'file 600']))
})

test('a backup removes what an earlier backup of the same name has left', async ({ backedUp: { data, folder } }) => {
  const next = join(folder, 'next')
  mkdirSync(`${next}.unfinished-0123abcd/blobs`, { recursive: true })
  await backUp(data, next)
  expect(unfinishedIn(folder)).toEqual([])
})

test('a restoration from a folder that is no backup is refused', async ({ backedUp: { data, folder, restored } }) => {
  await expect(restore(join(folder, 'nothing'), restored)).rejects.toThrow(messages.backup.missing('nothing'))
  await expect(restore(data, restored)).rejects.toThrow(messages.backup.incomplete)
  expect(existsSync(restored)).toBe(false)
})

test('a restoration into a directory that is in use or not empty is refused', async ({ backedUp, serve }) => {
  const { data, folder, backup } = backedUp
  await expect(restore(backup, data)).rejects.toThrow(messages.backup.targetFilled)
  await expect(restore(backup, folder)).rejects.toThrow(messages.backup.targetForeign)
  await expect(restore(backup, backup)).rejects.toThrow(messages.directory.isBackup)
  const service = await serve(data)
  const outcome = await administer(data, ['restore', backup])
  const stderr = expect.stringMatching(messages.backup.targetFilled)
  expect(outcome).toMatchObject({ status: 1, stdout: '', stderr })
  expect(await read(service, 'large.bin')).toEqual(contentOf('a'))
})

test('a restoration into another data directory or backup is refused (O-25)', async ({ backedUp }) => {
  const { data, folder, backup } = backedUp
  const link = join(folder, 'link')
  symlinkSync(data, link)
  for (const target of [join(data, 'blobs', 'copy'), join(link, 'no', 'where')])
    await expect(restore(backup, target)).rejects.toThrow(messages.backup.inside('data directory'))
  const other = join(folder, 'other')
  await backUp(data, other)
  await expect(restore(backup, join(other, 'copy'))).rejects.toThrow(messages.backup.inside('backup'))
  const nested = join(data, 'nested')
  await expect(openMachine(nested, { role: 'service' })).rejects.toThrow(messages.backup.inside('data directory'))
  expect([existsSync(join(data, 'no')), existsSync(nested)]).toEqual([false, false])
})

const damages: readonly (readonly [name: string, inflict: (backup: string) => unknown, sentence: RegExp])[] = [
  ['without its database', (backup) => rm(join(backup, 'site-admin.db')), messages.backup.fault('site-admin.db')],
  [
    'with a damaged database',
    (backup) => {
      const file = join(backup, 'site-admin.db')
      writeFileSync(file, readFileSync(file).fill(0xff, 4_096, 20_000))
    },
    messages.backup.fault('site-admin.db'),
  ],
  ['of another version', (backup) => tamper(backup, 'PRAGMA user_version = 9'), messages.backup.otherTables(9)],
  [
    'of another layout',
    (backup) => {
      const file = join(backup, 'site-admin-backup.json')
      writeFileSync(file, readFileSync(file, 'utf8').replace('"layout":1', '"layout":9'))
    },
    messages.backup.otherLayout,
  ],
  [
    'with an empty marker',
    (backup) => writeFileSync(join(backup, 'site-admin-backup.json'), '{}'),
    messages.backup.fault(' does not describe its contents'),
  ],
  [
    'without one of its files',
    (backup) => renameSync(blobOf(backup), join(backup, 'x')),
    messages.backup.some(1, messages.check.missing),
  ],
  [
    'with a file that has grown',
    (backup) => appendFileSync(blobOf(backup), 'more'),
    messages.backup.some(1, messages.check.size(40_068, 40_064)),
  ],
  [
    'with a grown file that must be copied',
    (backup) => {
      appendFileSync(blobOf(backup), 'more')
      // A file that other users can read is copied, not linked.
      chmodSync(blobOf(backup), 0o644)
    },
    messages.backup.some(1, messages.check.size(40_068, 40_064)),
  ],
  ['with other bytes in a file', replaceBlob, messages.backup.some(1, messages.check.bytesDiffer)],
]

test.for(damages)('no backup %s is restored', async ([, inflict, sentence], { backedUp: { backup, restored } }) => {
  await inflict(backup)
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
  expect(readdirSync(restored)).toEqual(['site-admin.json.new'])
})

test('the service and commands refuse a backup as a data directory, with advice', async ({ backedUp: { backup } }) => {
  const sentence = messages.directory.isBackup
  await expect(openMachine(backup, { role: 'service' })).rejects.toThrow(sentence)
  const outcome = await administer(backup, ['site', 'list'])
  expect(outcome).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(sentence) })
})

test('check reports blobs of a backup that belong to no file', async ({ backedUp: { backup } }) => {
  const stray = join(backup, 'blobs', 'stray')
  linkSync(blobOf(backup), stray)
  expect(await faultsOf(backup)).toEqual([{ where: stray, fault: messages.check.ofNoFile }])
})
