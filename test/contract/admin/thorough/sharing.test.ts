import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { administerJson } from '../../../support/administration.ts'
import { messages } from '../../../support/messages.ts'
import { failing } from '../../../support/outcomes.ts'
import { launch } from '../../../support/program.ts'
import { test } from '../../../support/test.ts'

const create = (directory: string, name: string) =>
  administerJson(directory, ['form', 'create', '--site', '1001', '--name', name])
const list = (directory: string) => administerJson(directory, ['form', 'list', '--site', '1001'])

/** An import that keeps the directory open until its input ends. */
const holdDirectory = async (directory: string) => {
  const program = launch('admin/main.js', ['--data-dir', directory, '--json', 'import', '-', '--site', '1001'])
  const record = `${JSON.stringify({ kind: 'webForm', id: 90, name: 'Held' })}\n`
  await new Promise((resolve) => program.stdin.write(record, resolve))
  await expect.poll(() => existsSync(join(directory, 'running'))).toBe(true)
  return program
}

/** The names in a directory that no process uses. */
const whileUnopened = ['blobs', 'locks', 'orphans', 'site-admin.db', 'site-admin.json']

test('a running service sees the changes of commands, and stops cleanly (T-1)', async ({ directory, start }) => {
  const service = await start()
  await create(directory, 'While it runs')
  expect((await service.request('/api/v1/admin/sites/current/webforms/3')).status).toBe(200)
  expect(await service.stop()).toMatchObject({ status: 0 })
  await create(directory, 'When it has ended')
  expect(await list(directory)).toMatchObject([
    { name: 'Contact us' },
    { name: 'Newsletter' },
    { name: 'While it runs' },
    { name: 'When it has ended' },
  ])
  expect(await readdir(directory)).toEqual(['blobs', 'demo.json', ...whileUnopened.slice(1)])
})

test('a service can start and stop while a command runs, whichever ends last', async ({ siteDirectory, start }) => {
  const held = await holdDirectory(siteDirectory)
  const service = await start()
  expect((await service.request('/health')).status).toBe(200)
  expect(await service.stop()).toMatchObject({ status: 0 })
  expect(existsSync(join(siteDirectory, 'running'))).toBe(true)
  held.stdin.end()
  expect(await held.ended).toMatchObject({ status: 0 })
  expect(existsSync(join(siteDirectory, 'running'))).toBe(false)
  expect((await start()).baseUrl).toBeDefined()
})

test('a running command prevents a service from resetting the directory', async ({ siteDirectory }) => {
  const held = await holdDirectory(siteDirectory)
  const reset = await launch('local/main.js', ['--port', '0', '--reset', '--data-dir', siteDirectory]).ended
  expect(reset).toMatchObject(failing(messages.directory.inUse))
  held.stdin.end()
  expect(await held.ended).toMatchObject({ status: 0 })
})

test('a killed command does not block the next one', async ({ siteDirectory }) => {
  const held = await holdDirectory(siteDirectory)
  held.kill('SIGKILL')
  await held.ended
  expect(existsSync(join(siteDirectory, 'running'))).toBe(true)
  expect(await create(siteDirectory, 'Next')).toMatchObject({ name: 'Next' })
  expect(await readdir(siteDirectory)).toEqual(whileUnopened)
})
