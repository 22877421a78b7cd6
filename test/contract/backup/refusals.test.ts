import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, vi } from 'vitest'
import { makeBackup } from '../../../lib/machine/backup/make-backup.ts'
import { restoreBackup } from '../../../lib/machine/backup/restore-backup.ts'
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
import { mountSmallDisk, noSmallDisk } from '../../support/small-disk.ts'

describe('a backup is refused, and nothing is left of it,', () => {
  test.for([
    ['where something is', (folder: string) => folder, /is not empty\. Name a folder that does not exist yet\.$/],
    [
      'where there is a file',
      (folder: string) => join(folder, 'site-admin.json'),
      /is not a folder\. Name one that does not/,
    ],
    ['in a folder that is not there', (folder: string) => join(folder, 'no/where'), /^There is no folder .+no for the/],
    ['inside of the data directory', (folder: string) => join(folder, 'backup'), /is inside the data directory/],
  ] as const)('%s', async ([, target, sentence], { siteDirectory }) => {
    const before = snapshotOf(siteDirectory)
    await expect(backUp(siteDirectory, target(siteDirectory))).rejects.toThrow(sentence)
    expect(snapshotOf(siteDirectory)).toEqual(before)
  })

  test('without a data directory, and from a deployment', async ({ place }) => {
    for (const args of [
      ['backup', place.backup],
      ['--target', 'aws', 'backup', place.backup],
    ]) {
      const outcome = await administer(place.data, args)
      expect(outcome).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(/^.+\n$/) })
    }
    expect(readdirSync(place.folder)).toEqual([])
  })

  test('when a file is damaged, unless the caller accepts damage', async ({ backedUp: { data, folder, restored } }) => {
    await replaceBlob(data)
    const target = join(folder, 'again')
    const outcome = await administer(data, ['backup', target, '--bytes'])
    expect(outcome).toMatchObject({ status: 1, stdout: '' })
    expect(outcome.stderr).toMatch(
      /^A file or row is damaged: .+, its bytes differ from those that were stored\. .+\n$/,
    )
    expect(readdirSync(folder).toSorted()).toEqual(['backup', 'data'])

    const even = { evenIfDamaged: true, withBytes: true, signal: new AbortController().signal }
    expect(await makeBackup(data, target, even)).toMatchObject({ damaged: 1 })
    expect(await faultsOf(target)).toMatchObject([{ where: 'site 1001, file large.bin' }])
    await expect(restore(target, restored)).rejects.toThrow(/is damaged: 1 of its files/)
    expect(await restoreBackup(target, restored, even)).toMatchObject({ damaged: 1 })
  })

  test('when a file is too short, without a look at its bytes', async ({ backedUp: { data, folder } }) => {
    truncateSync(blobOf(data), 17_000)
    const fault = /it has 17000 bytes instead of 40064\. .+ No backup was made\.$/
    await expect(backUp(data, join(folder, 'again'))).rejects.toThrow(fault)
    expect(readdirSync(folder).toSorted()).toEqual(['backup', 'data'])
  })

  test('when the disk is full', async ({ backedUp: { data, folder, backup }, skip }) => {
    if (noSmallDisk !== undefined) skip(noSmallDisk)
    const disk = mountSmallDisk(join(folder, 'disk'), 8)
    if (!disk) return skip('this machine does not let a file system be mounted')
    try {
      const [target, restored] = [join(disk.path, 'backup'), join(disk.path, 'restored')]
      disk.fill()
      await expect(backUp(data, target)).rejects.toThrow(/^The disk is full: .+ Nothing of it is left\.$/)
      await expect(restore(backup, restored)).rejects.toThrow(/^(The disk is full|The data directory)/)
      expect(unfinishedIn(disk.path)).toEqual([])

      // On another file system blobs are copied, not linked.
      disk.makeRoom()
      await expect(backUp(data, disk.path)).rejects.toThrow(/is not empty|is a file system of its own/)
      await backUp(data, target)
      expect(await faultsOf(target)).toEqual([])
      expect(modesIn(target)).toEqual(new Set(['folder 700', 'file 600']))
    } finally {
      disk.unmount()
    }
  })
})

describe('a restoration is refused, and nothing is changed,', () => {
  test('from a folder that is no backup', async ({ backedUp: { data, folder, restored } }) => {
    await expect(restore(join(folder, 'nothing'), restored)).rejects.toThrow(
      /^There is no backup .+nothing\. Name another/,
    )
    await expect(restore(data, restored)).rejects.toThrow(/is not a complete backup: .+ Nothing was changed/)
    expect(existsSync(restored)).toBe(false)
  })

  test('into a directory that is not empty, in use, or a backup', async ({ backedUp, serve }) => {
    const { data, folder, backup } = backedUp
    await expect(restore(backup, data)).rejects.toThrow(/already contains data\. Name an empty one with --data-dir\./)
    await expect(restore(backup, folder)).rejects.toThrow(/has files, but no .+: it is not a data directory/)
    await expect(restore(backup, backup)).rejects.toThrow(/is inside the backup/)
    const link = join(folder, 'link')
    symlinkSync(backup, link)
    await expect(restore(backup, join(link, 'data'))).rejects.toThrow(/is inside the backup/)
    const service = await serve(data)
    const outcome = await administer(data, ['restore', backup])
    expect(outcome).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^.+ already contains data.+\n$/),
    })
    expect(await read(service, 'large.bin')).toEqual(contentOf('a'))
  })

  const damages: readonly (readonly [name: string, inflict: (backup: string) => unknown, sentence: RegExp])[] = [
    ['without its database', (backup) => rm(join(backup, 'site-admin.db')), /is damaged: .+site-admin\.db/],
    [
      'with a damaged database',
      (backup) => {
        const file = join(backup, 'site-admin.db')
        writeFileSync(file, readFileSync(file).fill(0xff, 4_096, 20_000))
      },
      /is damaged: .+site-admin\.db/,
    ],
    [
      'with newer tables',
      (backup) => tamper(backup, 'PRAGMA user_version = 999'),
      /which has newer tables\. Restore it with that version, or a newer one\. Nothing was changed/,
    ],
    [
      'of another layout',
      (backup) => {
        const file = join(backup, 'site-admin-backup.json')
        writeFileSync(file, readFileSync(file, 'utf8').replace('"layout":1', '"layout":9'))
      },
      /which uses another layout\. Restore it with that version/,
    ],
    [
      'whose marker says nothing',
      (backup) => writeFileSync(join(backup, 'site-admin-backup.json'), '{}'),
      /is damaged: .+ does not describe its contents/,
    ],
    [
      'of which a file is missing',
      (backup) => renameSync(blobOf(backup), join(backup, 'x')),
      /1 of its files or rows are damaged, such as .+: it is missing\. .+ Nothing was changed/,
    ],
    [
      'of which a file is longer than it was',
      (backup) => appendFileSync(blobOf(backup), 'more'),
      /such as .+: it has 40068 bytes instead of 40064\. .+ Nothing was changed/,
    ],
    [
      'of which a file is longer, and has to be copied',
      (backup) => {
        appendFileSync(blobOf(backup), 'more')
        // A file that other users can read is copied, not linked.
        chmodSync(blobOf(backup), 0o644)
      },
      /such as .+: it has 40068 bytes instead of 40064\. .+ Nothing was changed/,
    ],
    ['of which a file holds other bytes', replaceBlob, /such as .+: its bytes differ from those that were stored/],
  ]

  test.for(damages)('from one %s', async ([, inflict, sentence], { backedUp: { backup, restored } }) => {
    await inflict(backup)
    await expect(restore(backup, restored)).rejects.toThrow(sentence)
    expect(existsSync(restored)).toBe(false)
    // An empty folder is empty again after the refusal.
    mkdirSync(restored)
    await expect(restore(backup, restored)).rejects.toThrow(sentence)
    expect(readdirSync(restored)).toEqual([])
  })
})

test('a failed restoration leaves nothing if it cannot write a marker', async ({ backedUp: { backup, restored } }) => {
  mkdirSync(restored)
  const { signal } = new AbortController()
  vi.spyOn(signal, 'throwIfAborted').mockImplementation(() => {
    // A file cannot take the place of a folder.
    mkdirSync(join(restored, 'site-admin.json.new'))
    throw new Error('It was ended')
  })
  await expect(restoreBackup(backup, restored, { evenIfDamaged: false, signal })).rejects.toThrow('It was ended')
  expect(readdirSync(restored)).toEqual(['site-admin.json.new'])
})

test('the start and the commands refuse a backup as data directory, with advice', async ({ backedUp: { backup } }) => {
  const sentence = /is a backup\. Restore it into an empty data directory: "site-admin restore .+"/
  await expect(openMachine(backup, { role: 'service' })).rejects.toThrow(sentence)
  const outcome = await administer(backup, ['site', 'list'])
  expect(outcome).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(sentence) })
})

test('check reports blobs of a backup that belong to no file', async ({ backedUp: { backup } }) => {
  const stray = join(backup, 'blobs', 'stray')
  linkSync(blobOf(backup), stray)
  expect(await faultsOf(backup)).toEqual([{ where: stray, fault: 'it belongs to no file.' }])
})
