import { readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { administer, administerJson } from '../../../support/administration.ts'
import { backUp, blobOf, contentOf, faultsOf, put, read, replaceBlob, restore, test } from '../../../support/backups.ts'
import { messages } from '../../../support/messages.ts'
import { faultAt, foundBy } from '../../../support/outcomes.ts'
import { storage } from '../../../support/paths.ts'

test('the advice of check repairs a file', async ({ backedUp: { data, folder, restored }, serve }) => {
  const lost = blobOf(data)
  await rm(lost)
  expect(await faultsOf(data)).toMatchObject([faultAt('site 1001, file large.bin', messages.check.bytesMissing)])
  const service = await serve(data)
  await put(service, 'large.bin', contentOf('a'))
  expect(await read(service, 'large.bin')).toEqual(contentOf('a'))
  await service.stop()
  // The next start reports nothing.
  expect((await (await serve(data)).stop()).stderr).toBe('')

  expect(foundBy(await administer(data, ['--json', 'check', '--bytes']))).toEqual({
    status: 1,
    faults: [faultAt('site 1001, an old version of the file large.bin', messages.check.versionMissing)],
  })

  // No repair is needed: backups succeed, and can be restored.
  const target = join(folder, 'again')
  const made = await administer(data, ['backup', target])
  expect(made).toMatchObject({ status: 0, stderr: '' })
  expect(made.stdout).toContain('\n\n1 old version is damaged and cannot be restored. The current files of the sites')
  expect(JSON.parse(readFileSync(join(target, 'site-admin-backup.json'), 'utf8'))).toMatchObject({
    damaged: 0,
    damagedEarlier: 1,
  })
  expect(await administerJson(restored, ['restore', target])).toMatchObject({ damaged: 0, damagedEarlier: 1 })
  expect(await read(await serve(restored), 'large.bin')).toEqual(contentOf('a'))
})

test('check --bytes reports changed bytes of an old version', async ({ backedUp: { data, folder }, serve }) => {
  await replaceBlob(data)
  const service = await serve(data)
  await put(service, 'large.bin', contentOf('b'))
  await service.stop()
  expect(await faultsOf(data)).toEqual([
    faultAt('site 1001, an old version of the file large.bin', messages.check.versionDiffers),
  ])
  expect(await backUp(data, join(folder, 'again'), { withBytes: true })).toMatchObject({
    damaged: 0,
    damagedEarlier: 1,
  })
})

test('damage that a file shares with an old version is its own', async ({ backedUp: { data, folder }, serve }) => {
  const service = await serve(data)
  const copied = await service.request(`${storage}/large.bin?meta`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ copyTo: '/copy.bin' }),
  })
  expect(copied.status).toBe(200)
  expect((await service.request(`${storage}/large.bin`, { method: 'DELETE' })).status).toBe(200)
  await service.stop()
  await replaceBlob(data)
  expect(await faultsOf(data)).toMatchObject([{ where: 'site 1001, file copy.bin' }])
  const fault = messages.backup.fileDamaged(messages.check.bytesDiffer)
  await expect(backUp(data, join(folder, 'again'), { withBytes: true })).rejects.toThrow(fault)
})

test('an old backup without old versions is restored', async ({ backedUp: { backup, restored } }) => {
  const marker = join(backup, 'site-admin-backup.json')
  const { damagedEarlier: _, ...before } = JSON.parse(readFileSync(marker, 'utf8'))
  writeFileSync(marker, JSON.stringify(before))
  expect(await restore(backup, restored)).toMatchObject({ damaged: 0, damagedEarlier: 0 })
})
