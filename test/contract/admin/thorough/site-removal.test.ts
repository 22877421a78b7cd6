import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import type { AdminStores } from '../../../../admin/stores/admin-stores.ts'
import { removeSite } from '../../../../admin/stores/site-removal.ts'
import { hashToken } from '../../../../lib/access/grants.ts'
import type { CategoryId, SiteId } from '../../../../lib/core/ids.ts'
import { openMachine } from '../../../../lib/machine/machine.ts'
import type { Stores } from '../../../../lib/service/stores.ts'
import { commandsOn, refusal } from '../../../support/administration.ts'
import { messages } from '../../../support/messages.ts'
import { putObject } from '../../../support/objects.ts'
import { failing } from '../../../support/outcomes.ts'
import { storage } from '../../../support/paths.ts'
import { testPerson } from '../../../support/people.ts'
import { test as base } from '../../../support/test.ts'

const site = 1001 as SiteId

/** The demo site, and a second site that must stay unchanged. */
const fill = async (
  directory: string,
  { request, stop }: { request: (path: string, init?: RequestInit) => Promise<Response>; stop: () => Promise<unknown> },
) => {
  for (const path of ['a.txt', 'deep/er/b.html', 'deep/er/b.html?version=draft']) {
    await request(`${storage}/${path}`, { method: 'PUT', body: 'x'.repeat(20_000) })
  }
  const upload = { 'Upload-Length': '9', 'Upload-Metadata': 'filename YQ==' }
  const headers = { 'Tus-Resumable': '1.0.0', 'Content-Type': 'application/offset+octet-stream', ...upload }
  await request(storage, { method: 'POST', headers, body: 'some' })
  await stop()
  const commands = commandsOn(directory)
  for (const line of [
    ...['site create --name Other', 'form create --site 1002 --name Stays'],
    ...['workflow start deep/er/b.html --site 1001', 'webhook create --site 1001 --url https://example.com/'],
    'token issue --user ann --site 1001 --permission files',
    ...['token issue --user ann --site 1001 --site 1002 --permission files', 'user add ann --site 1001 --role owner'],
    'issuer add https://login.example.com --id work --audience site-admin',
    ...['1001', '1002'].map((id) => `rule add --issuer work --claim ref=main --site ${id} --right files:write`),
  ])
    await commands.run(line)
  return commands
}

/** Opens the stores of a machine, as commands use them. Caches keep tokens for `memory` milliseconds. */
const test = base.extend('open', async ({ directory: _ }, { onCleanup }) => async (path: string, memory = 0) => {
  const { stores: areas, close } = await openMachine(path)
  onCleanup(close)
  const area = async () => ({ ...areas, files: async () => areas.files })
  const stores: AdminStores = { ...areas, areas: area, memory: async () => memory, [Symbol.asyncDispose]: close }
  const found = (await stores.sites.getSite(site)) ?? expect.fail('There is no site')
  return { areas, stores, found }
})

/** The contents of a site in the stores, even if the site has been removed from the directory. */
const leftOf = async ({ webForms, contents, links, workflows, files, webhooks }: Stores, id: SiteId) => ({
  forms: (await webForms.list(id)).length,
  contents: (await contents.list(id, 'category', 0, 10)).length + (await contents.list(id, 'news', 0, 10)).length,
  links: (await links.count({ site: id, kind: 'news', category: 1 as CategoryId }, 0, 10)).count,
  workflows: (await workflows.list(id, undefined, 10)).length,
  files: await files.exists(`live/${id}/`),
  drafts: await files.exists(`draft/${id}/`),
  webhooks: (await webhooks?.listOfSite(id))?.length,
})
const nothing = { forms: 0, contents: 0, links: 0, workflows: 0, files: false, drafts: false, webhooks: 0 }

test('site remove lists what it would remove, and removes it with --yes (A-105, T-17)', async ({
  directory,
  start,
}) => {
  const { run, attempt } = await fill(directory, await start())
  const contents = { files: 4, webForms: 2, categories: 3, objects: { news: 40, blog: 12 }, workflows: 1 }
  const counts = { ...contents, webhooks: 1, rules: 1, tokens: 3, people: 1 }
  const reported = await run('site remove 1001 --dry-run')
  expect(reported).toMatchObject({ removed: false, atLeast: false, ...counts, objects: expect.anything() })
  const parts = '4 files (… bytes), 2 web forms, …, 1 running workflow, 1 webhook, 1 rule. 3 tokens and 1 person'
  expect(await attempt('site remove 1001')).toEqual(failing(messages.site.removal(parts)))

  expect(await run('site remove 1001 --yes')).toEqual({ removed: true })
  const machine = await openMachine(directory)
  expect(await leftOf(machine.stores, site)).toEqual(nothing)
  await machine.close()
  expect(await run('site list')).toMatchObject([{ id: 1002 }])
  expect(await run('form list --site 1002')).toHaveLength(1)
  expect(await run('token list')).toMatchObject([{ sites: [1002] }])
  expect([await run('rule list'), await run('issuer list')]).toMatchObject([[{ site: 1002 }], [{ id: 'work' }]])
  expect(await run('check')).toEqual({ faults: [] })
  expect(await attempt('site remove 1001 --yes')).toEqual(refusal(directory, messages.site.missing(1001)))
  await run('site create --name Again --id 1001')
  const again = await openMachine(directory)
  expect(await again.stores.usage.bytesOf(site)).toBe(0)
  await again.close()
  const { stop } = await start()
  await stop()
  expect(readdirSync(join(directory, 'orphans'))).toEqual([])
})

test('after a removal, the history stays, and the id is never used again', async ({ commands: { run } }) => {
  await run('site remove 1001 --yes')
  expect(await run('audit --site 1001')).toMatchObject([{ type: 'site.created' }, { type: 'site.removed' }])
  expect(await run('site create --name Next')).toMatchObject({ id: 1002 })
  expect(await run('site create --name Again --id 1001')).toMatchObject({ id: 1001 })
})

test.for<readonly [string, string]>([
  ['a removed file', 'live/1001/a.txt'],
  ['a removed draft', 'draft/1001/a.html'],
  ['a file that was stored too late', 'live/1001/a.txt'],
])('an id stays unused while %s is kept under it (T-8)', async ([what, key], { commands: { run }, siteDirectory }) => {
  const { stores, database, close } = await openMachine(siteDirectory)
  const put = () => putObject(stores.files, key)
  if (what.includes('removed')) await put()
  await run('site remove 1001 --yes')
  if (!what.includes('removed')) await put()
  // Files may be kept longer than the history.
  database.connection.exec('DELETE FROM changes')
  await close()
  expect(await run('site create --name Next')).toMatchObject({ id: 1002 })
})

test('a removal that was interrupted at any step can be continued', async ({ directory, start, open }) => {
  await fill(directory, await start())
  const { areas: own, stores, found } = await open(directory)
  const fails = async () => {
    throw new Error('The process dies here')
  }
  const { files, workflows, webForms, contents, sites, grants, webhooks } = own
  const areas = (change: object) => ({
    ...stores,
    areas: async () => ({ ...(await stores.areas(found)), ...change }),
  })
  const breaking: readonly AdminStores[] = [
    { ...stores, grants: { ...grants, change: fails } },
    areas({ files: async () => ({ ...files, remove: fails }) }),
    areas({ workflows: { ...workflows, clear: fails } }),
    areas({ webForms: { ...webForms, clear: fails } }),
    areas({ contents: { ...contents, clear: fails } }),
    areas({ webhooks: { ...webhooks, clear: fails } }),
    { ...stores, sites: { ...sites, removeSite: fails } },
  ]
  for (const broken of breaking) {
    await expect(removeSite(broken, found)).rejects.toThrow('The process dies here')
    expect(await sites.getSite(site)).toEqual(found)
  }
  await removeSite(stores, found)
  expect(await leftOf(own, site)).toEqual(nothing)
  expect(await sites.getSite(site)).toBeUndefined()
})

const cached = { hash: hashToken('x'), user: 'eve', sites: [site], permissions: [], expires: 4_000_000_000 }

test('people and keys that a cached token adds meanwhile are removed, too', async ({ siteDirectory, open }) => {
  const { stores, found } = await open(siteDirectory, 60_000)
  const { grants, people } = stores
  await grants.put({ ...cached, permissions: ['access:write'] }, [])
  await removeSite(stores, found, {
    say: () => {},
    async wait() {
      const person = testPerson({ name: 'eve', sites: { [site]: { role: 'owner' } } })
      await people.create(person, [])
      const key = { kind: 'key', since: person.created, name: 'Robot', permissions: ['files:write'] } as const
      await grants.put({ ...cached, ...key, hash: hashToken('y') }, [])
    },
  })
  expect([await people.listOfSites(site), await grants.keysOf(site)]).toEqual([[], []])
})

test('a removal waits until cached tokens expire, and removes files stored then', async ({ siteDirectory, open }) => {
  const { areas, stores, found } = await open(siteDirectory, 60_000)
  const entry = { site, type: 'form.created', subject: 'test', actor: 'ann' } as const
  await stores.grants.put(cached, [])
  const printed: string[] = []
  const waits: number[] = []
  await removeSite(stores, found, {
    say: (sentence) => printed.push(sentence),
    async wait(milliseconds) {
      waits.push(milliseconds)
      await areas.contents.create(site, 'category', { id: 7, name: 'Late' }, entry)
    },
  })
  expect(waits).toHaveLength(1)
  expect(waits[0]).toBeGreaterThan(50_000)
  expect(printed).toEqual([expect.stringMatching(messages.site.waiting)])
  expect(await leftOf(areas, site)).toEqual(nothing)
})

test('a removal interrupted while it waited waits again when it is repeated', async ({ siteDirectory, open }) => {
  const { stores, found } = await open(siteDirectory, 60_000)
  await stores.grants.put(cached, [])
  const wait = vi.fn(async () => {})
  const interrupted = removeSite(stores, found, {
    say: () => {},
    wait: wait.mockRejectedValueOnce(new Error('Ctrl+C')),
  })
  await expect(interrupted).rejects.toThrow('Ctrl+C')
  await removeSite(stores, found, { say: () => {}, wait })
  expect(wait).toHaveBeenCalledTimes(2)
})
