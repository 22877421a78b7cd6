import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { administerApart } from '../../../support/administration.ts'
import { messages } from '../../../support/messages.ts'
import { run } from '../../../support/program.ts'
import { mountSmallDisk, noSmallDisk } from '../../../support/small-disk.ts'
import { startService } from '../../../support/spawned-service.ts'
import { test as base } from '../../../support/test.ts'

/** The data directory of a killed service on a read-only disk. Undefined if no disk can be mounted here. */
const test = base
  .extend('rescue', async ({ directory }, { onCleanup }) => {
    const disk = mountSmallDisk(join(directory, 'disk'), 16)
    if (!disk) return undefined
    onCleanup(() => disk.unmount())
    return async (lose = (_data: string) => {}): Promise<string> => {
      const data = join(disk.path, 'data')
      const service = await startService(data)
      service.kill('SIGKILL')
      await service.ended
      lose(data)
      disk.makeReadOnly()
      return data
    }
  })
  .extend('rescued', ({ rescue }) => rescue?.())

describe.skipIf(noSmallDisk !== undefined)('a data directory on a read-only file system', () => {
  test.for([
    ['site', 'list'],
    ['export', '--site', '1001'],
    ['backup', '/tmp/site-admin-no-backup'],
    ['serve', '--port', '0'],
  ])('a read-only directory is refused with advice, by %s', async (words, { rescued, skip }) => {
    if (!rescued) return skip('no file system can be mounted here')
    const { status, stdout, stderr } = await run('admin/main.js', ['--data-dir', rescued, ...words])
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(messages.directory.readOnly)
    expect(stderr).not.toContain('rights')
  })

  test('a read-only directory can be checked, and a copy of it can be used', async ({ rescued, directory, skip }) => {
    if (!rescued) return skip('no file system can be mounted here')
    expect(await administerApart(rescued, ['check'])).toMatchObject({ status: 0, stdout: messages.check.noFaults })
    const copy = join(directory, 'copy')
    cpSync(rescued, copy, { recursive: true, preserveTimestamps: true })
    expect(await administerApart(copy, ['site', 'list'])).toMatchObject({ status: 0 })
  })

  test('if the WAL has no index file, check reads only a copy of the database', async ({ rescue, directory, skip }) => {
    const data = await rescue?.((path) => rmSync(join(path, 'site-admin.db-shm')))
    if (data === undefined) return skip('no file system can be mounted here')
    const { status, stdout } = await administerApart(data, ['--json', 'check'])
    expect({ status, ...JSON.parse(stdout) }).toEqual({
      status: 1,
      faults: [{ where: join(data, 'site-admin.db'), fault: expect.stringMatching(messages.check.elsewhere) }],
    })
    const copy = join(directory, 'copy')
    execFileSync('cp', ['-a', data, copy])
    expect(await administerApart(copy, ['check'])).toMatchObject({ status: 0, stdout: messages.check.noFaults })
  })
})
