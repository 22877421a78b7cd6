import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { administerJson } from '../../support/administration.ts'
import { launch } from '../../support/program.ts'
import { startService } from '../../support/spawned-service.ts'
import { test } from '../../support/test.ts'

const create = (directory: string, name: string) =>
  administerJson(directory, ['form', 'create', '--site', '1001', '--name', name])
const list = (directory: string) => administerJson(directory, ['form', 'list', '--site', '1001'])
const names = ['One', 'Two', 'Three', 'Four']

/** An import that has the directory for itself, and keeps it until its input ends. */
const holdDirectory = async (directory: string) => {
  const program = launch('admin/main.ts', ['--data-dir', directory, '--json', 'import', '-', '--site', '1001'])
  const record = `${JSON.stringify({ kind: 'webForm', id: 90, name: 'Held' })}\n`
  await new Promise((resolve) => program.stdin.write(record, resolve))
  while (!(await readdir(join(directory, 'run'))).includes('admin.sock'));
  return program
}

describe('commands', () => {
  test('at once on a directory wait for each other, and lose nothing', async ({ siteDirectory }) => {
    const forms = await Promise.all(names.map((name) => create(siteDirectory, name)))
    expect(forms.map(({ id }) => id).toSorted()).toEqual([1, 2, 3, 4])
    expect((await list(siteDirectory)).map(({ name }: { name: string }) => name).toSorted()).toEqual(names.toSorted())
  })

  test('at once on the directory of a running service lose nothing', async ({ directory, start }) => {
    const service = await start()
    const forms = await Promise.all(names.map((name) => create(directory, name)))
    expect(forms.map(({ id }) => id).toSorted()).toEqual([3, 4, 5, 6])
    const answer = await service.request('/api/v1/admin/sites/current/webforms')
    expect(await answer.json()).toMatchObject({ totalItemsCount: 6 })
  })

  test('go on over the socket of a service, which then stops cleanly', async ({ directory, start }) => {
    const service = await start()
    await create(directory, 'While it runs')
    expect(await service.stop()).toMatchObject({ status: 0 })
    await create(directory, 'When it has ended')
    const after = await start()
    expect(await list(directory)).toMatchObject([
      { name: 'Contact us' },
      { name: 'Newsletter' },
      { name: 'While it runs' },
      { name: 'When it has ended' },
    ])
    expect((await after.request('/api/v1/admin/sites/current/webforms/4')).status).toBe(200)
  })

  test('leave nothing behind but the data', async ({ siteDirectory }) => {
    await create(siteDirectory, 'Contact')
    expect(await readdir(join(siteDirectory, 'run'))).toEqual(['lock'])
  })
})

describe('a command that has the directory for itself', () => {
  test('keeps a service from starting, which says so', async ({ siteDirectory }) => {
    const held = await holdDirectory(siteDirectory)
    await expect(startService(siteDirectory)).rejects.toThrow(/status 1 .+ is in use by another process/)
    held.stdin.end()
    expect(await held.ended).toMatchObject({ status: 0 })
  })

  test('and is killed leaves the directory to the next one', async ({ siteDirectory }) => {
    const held = await holdDirectory(siteDirectory)
    held.kill('SIGKILL')
    await held.ended
    expect(await create(siteDirectory, 'Next')).toMatchObject({ name: 'Next' })
    expect(await readdir(join(siteDirectory, 'run'))).toEqual(['lock'])
  })
})
