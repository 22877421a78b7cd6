import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openDataDirectory } from '../../../../lib/machine/directory/open-directory.ts'
import { createReadiness } from '../../../../local/service.ts'
import { administerApart } from '../../../support/administration.ts'
import { messages, phrase } from '../../../support/messages.ts'
import { failing, faultAt, foundBy } from '../../../support/outcomes.ts'
import { run } from '../../../support/program.ts'
import { startService } from '../../../support/spawned-service.ts'
import { test as base } from '../../../support/test.ts'

/** The data directory of a killed service on a read-only disk. */
const test = base
  .extend('rescue', async ({ mountDisk }) => async (lose = (_data: string) => {}): Promise<string> => {
    const disk = mountDisk(16)
    const data = join(disk.path, 'data')
    const service = await startService(data)
    service.kill('SIGKILL')
    await service.ended
    lose(data)
    disk.makeReadOnly()
    return data
  })
  .extend('rescued', ({ rescue }) => rescue())

test.for([
  ['site', 'list'],
  ['export', '--site', '1001'],
  ['backup', '/tmp/site-admin-no-backup'],
  ['serve', '--port', '0'],
])('a directory on a read-only disk is refused with advice, by %s', async (words, { rescued }) => {
  const outcome = await run('admin/main.js', ['--data-dir', rescued, ...words])
  expect(outcome).toMatchObject(failing(messages.directory.readOnly))
  expect(outcome.stderr).not.toContain('rights')
})

test('a command prints advice if the disk becomes read-only while it runs', async ({ mountDisk }) => {
  const { path } = mountDisk(16)
  const data = join(path, 'data')
  const opened = await openDataDirectory(data, { role: 'service', reset: false, durable: false })
  execFileSync('mount', ['--bind', '-o', 'ro', path, path])
  try {
    await expect(opened.close()).rejects.toThrow(messages.directory.unwritable(data, 'EROFS'))
  } finally {
    execFileSync('umount', [path])
    await opened.close()
  }
})

test('a directory on a read-only disk can be checked, and its copy can be used', async ({ rescued, directory }) => {
  expect(await administerApart(rescued, ['check'])).toMatchObject({ status: 0, stdout: messages.check.noFaults })
  const copy = join(directory, 'copy')
  cpSync(rescued, copy, { recursive: true, preserveTimestamps: true })
  expect(await administerApart(copy, ['site', 'list'])).toMatchObject({ status: 0 })
})

test('if the WAL has no index file, check reads only a copy of the database', async ({ rescue, directory }) => {
  const data = await rescue((path) => rmSync(join(path, 'site-admin.db-shm')))
  expect(foundBy(await administerApart(data, ['--json', 'check']))).toEqual({
    status: 1,
    faults: [faultAt(join(data, 'site-admin.db'), phrase`^it cannot be read here: … Copy … and check the copy.$`)],
  })
  const copy = join(directory, 'copy')
  execFileSync('cp', ['-a', data, copy])
  expect(await administerApart(copy, ['check'])).toMatchObject({ status: 0, stdout: messages.check.noFaults })
})

test('a service is not ready while its disk is read-only (V-29)', async ({ mountDisk }) => {
  const disk = mountDisk(1)
  const readiness = createReadiness(disk.path)
  readiness.started()
  await expect(readiness.check()).resolves.toBeUndefined()
  disk.makeReadOnly()
  await expect(readiness.check()).rejects.toMatchObject({ code: 100503 })
})
