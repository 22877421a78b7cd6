import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createProgram } from '../../../admin/program.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { administer, administerJson, jsonLines, refusal } from '../../support/administration.ts'
import { commandSession, hashIn, leavesOf, sessionRecords, wordsOf } from '../../support/command-session.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { messages, refusedCommands } from '../../support/messages.ts'
import { putObject } from '../../support/objects.ts'
import { storage } from '../../support/paths.ts'
import { test } from '../../support/test.ts'

/** Other tests run these commands. */
const webhookCommands = ['create', 'list', 'show', 'change', 'remove', 'test', 'deliveries', 'repeat']
const elsewhere = [
  ...['audit', 'backup', 'check', 'completion', 'restore', 'rule remove', 'serve', 'site remove'],
  ...webhookCommands.map((name) => `webhook ${name}`),
]

test('Commands print answers (A-48, A-49, A-50, A-111, H-3, H-5, T-8, T-12, T-16)', async ({ dataDirectory }) => {
  const folder = scratchDirectory()
  const values = { records: join(folder, 'records'), exported: join(folder, 'exported'), hash: '' }
  writeFileSync(values.records, jsonLines(sessionRecords))
  for (const [line, answer] of commandSession) {
    const printed = await administerJson(dataDirectory, wordsOf(line, values))
    expect({ line, printed }).toEqual({ line, printed: answer })
    values.hash = hashIn(printed) ?? values.hash
  }
  expect(await administerJson(dataDirectory, ['site', 'remove', '1001', '--yes'])).toEqual({ removed: true })
  const changes = await administerJson(dataDirectory, ['audit', '--site', '1001'])
  const types = commandSession.flatMap(([, , history = []]) => history)
  expect(changes.map(({ type }: { type: string }) => type)).toEqual([...types, 'site.removed'])
  for (const { actor, requestId } of changes) {
    expect({ actor, requestId }).toEqual({ actor: expect.stringMatching(/^admin:./), requestId: null })
  }
})

test('Every command of site-admin has a test', () => {
  const tried = [...commandSession.map(([line]) => `${line} `), ...elsewhere.map((name) => `${name} `)]
  const leaves = leavesOf(createProgram()).map(([name]) => name)
  expect(leaves.filter((leaf) => !tried.some((line) => line.startsWith(`${leaf} `)))).toEqual([])
})

const contents = [
  { kind: 'webForm', id: 3, name: 'Contact' },
  { kind: 'field', webFormId: 3, typeId: -2 },
  { kind: 'category', id: 5, name: 'Five' },
  { kind: 'news', id: 1, subject: 'One' },
  { kind: 'link', type: 'news', categoryId: 5, objectId: 1 },
]
test('Refused commands give advice, and change nothing (T-5, T-17)', async ({ commands, siteDirectory }) => {
  await commands.run('import - --site 1001', jsonLines(contents))
  await commands.run('issuer add https://login.example.com --id work --audience site-admin')
  const before = await commands.run('audit --site 1001')
  for (const [line, reason] of refusedCommands) {
    expect({ line, ...(await commands.attempt(line)) }).toEqual({ line, ...refusal(siteDirectory, reason) })
  }
  expect(await commands.run('audit --site 1001')).toEqual(before)
})

test('site create is refused while the directory has no data centre', async ({ dataDirectory }) => {
  const outcome = await administer(dataDirectory, ['site', 'create', '--name', 'Shop'])
  expect(outcome).toEqual(refusal(dataDirectory, messages.site.noDataCentre))
})

test.for([
  ['several', true],
  ['no', false],
] as const)(
  'site create needs --data-centre beside %s defaults (T-8)',
  async ([, isDefault], { commands, siteDirectory }) => {
    const { stores, close } = await openMachine(siteDirectory)
    const register = (id: string) => stores.sites.putDataCentre({ id, url: `https://${id}.example`, isDefault })
    await register('us')
    expect(await commands.run('site create --name Only')).toMatchObject({ dataCentre: 'us' })
    await register('eu')
    await close()
    for (const line of ['site create --name Shop', 'site create --name Shop --id 5000']) {
      expect(await commands.attempt(line)).toEqual(refusal(siteDirectory, messages.site.noSingleDefault))
    }
    expect(await commands.run('site create --name Shop --data-centre eu')).toMatchObject({ dataCentre: 'eu' })
  },
)

test.for(['site create --name Far', 'form create --name Far --site 1001'])(
  'a command is refused when the highest possible id is in use: %s',
  async (line, { commands: { run, attempt }, siteDirectory }) => {
    await run(`${line} --id 999999999999999`)
    expect(await attempt(line)).toEqual(refusal(siteDirectory, messages.site.noFreeId))
  },
)

test('site show counts the kept versions of replaced and removed files', async ({ host, directory }) => {
  const service = await host()
  const put = (path: string, body: string) => service.request(`${storage}/${path}`, { method: 'PUT', body })
  await put('a.txt', 'four')
  await put('a.txt', 'seventy')
  await put('b.html?version=draft', 'x'.repeat(20_000))
  await service.request(`${storage}/b.html`, { method: 'DELETE' })
  const shown = await administerJson(directory, ['site', 'show', String(service.siteId)])
  expect(shown).toMatchObject({ keptVersions: 2, keptBytes: 20_004 })
})

const add = (directory: string, ...options: string[]) =>
  administer(directory, ['data-centre', 'add', 'us', '--url', 'https://us.example', ...options])

test('data-centre add changes the base URL, and keeps the default (T-7)', async ({ commands: { run } }) => {
  for (const url of ['https://eu.example/', 'https://eu.example/base']) {
    const eu = await run(`data-centre add eu --url ${url}`)
    expect(eu).toEqual({ id: 'eu', url: url.replace(/\/$/, ''), default: false })
    expect(await run('data-centre list')).toEqual([eu, { id: 'us', url: 'http://127.0.0.1:4000', default: true }])
  }
})

test.for([
  ['keeps the region of a deployed data centre', [], 'eu-west-1'],
  ['sets the region of a data centre that was not deployed', ['--region', 'us-east-1'], 'us-east-1'],
] as const)('data-centre add %s', async ([, options, region], { dataDirectory }) => {
  const deployed = { id: 'us', url: 'https://old.example', isDefault: true, region: 'eu-west-1' }
  const before = await openMachine(dataDirectory)
  if (options.length === 0) await before.stores.sites.putDataCentre(deployed)
  await before.close()
  expect(await add(dataDirectory, ...options)).toMatchObject({ status: 0 })
  const after = await openMachine(dataDirectory)
  const stored = await after.stores.sites.getDataCentre('us')
  await after.close()
  expect(stored).toEqual({ ...deployed, url: 'https://us.example', region })
})

test('data-centre add warns once that a running service keeps its old base URL', async ({ host, directory }) => {
  await host()
  const stderr = `Running services use the old base URL for up to 30 seconds.\n${messages.site.baseUrlOfService('us')}`
  expect(await add(directory)).toMatchObject({ status: 0, stderr })
  expect(await add(directory)).toMatchObject({ status: 0, stderr: '' })
})

test.for([
  ['a page', 'Folder/INDEX.html', 'folder/index.html'],
  ['a draft', 'folder/Draft.html', 'folder/draft.html'],
  ['a missing page in a folder', 'FOLDER/New.html', 'folder/New.html'],
] as const)('workflow ignores the case of %s (S-9, T-15)', async ([, written, path], { commands, siteDirectory }) => {
  const { stores, close } = await openMachine(siteDirectory)
  const keys = ['live/1001/folder/', 'live/1001/folder/index.html', 'draft/1001/folder/draft.html']
  for (const key of keys) await putObject(stores.files, key)
  await close()
  expect(await commands.run(`workflow start ${written} --site 1001`)).toEqual({ path, workflow: 'running' })
  expect(await commands.run('workflow list --site 1001')).toEqual([{ path, workflow: 'running' }])
  expect(await commands.run(`workflow end ${written} --site 1001`)).toEqual({ path, workflow: 'ended' })
})
