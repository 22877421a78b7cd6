import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ServiceError } from '../../../lib/core/errors.ts'
import type { ChangeType } from '../../../lib/core/history-entry.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { createWebhookSender } from '../../../local/webhook-sender.ts'
import { administer, administerJson, refusal } from '../../support/administration.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { entry } from '../../support/history.ts'
import { listenInTest } from '../../support/listen.ts'
import { messages } from '../../support/messages.ts'
import { storage } from '../../support/paths.ts'
import { serveHere } from '../../support/serve-here.ts'
import { testWebhook } from '../../support/webhooks.ts'

const start = async (directory = scratchDirectory(), allowPrivateWebhooks = true) => {
  const logged: unknown[] = []
  const telemetry = { request: (record: unknown) => void logged.push(record) }
  const { baseUrl, demo, stop, read } = await serveHere({
    dataDirectory: directory,
    allowPrivateWebhooks,
    metrics: { host: '127.0.0.1', port: 0 },
    telemetry,
  })
  const site = String(demo?.siteId)
  const rights = ['access:write', 'files:write', 'history:read'].flatMap((right) => ['--right', right])
  const { token } = await administerJson(directory, ['token', 'issue', '--user', 'ann', '--site', site, ...rights])
  const ask = async (method: string, path: string, body?: unknown) => {
    const headers = { Authorization: String(token), 'Content-Type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await fetch(`${baseUrl}${path}`, { method, headers, ...sent })
    expect(answer.status).toBeLessThan(300)
    return answer.status === 204 ? undefined : JSON.parse((await answer.text()) || 'null')
  }
  const webhooks = `/webresources/api/v3/sites/${site}/webhooks`
  return {
    directory,
    logged,
    stop,
    site,
    create: (targetUrl: string, more = {}) => ask('POST', webhooks, { targetUrl, types: ['file.*'], ...more }),
    set: (id: string, change: object) => ask('PUT', `${webhooks}/${id}`, change),
    remove: (id: string) => ask('DELETE', `${webhooks}/${id}`),
    deliveries: (id: string) => ask('GET', `${webhooks}/${id}/deliveries`),
    put: (name: string) => ask('PUT', `${storage}/${name}`, {}),
    measure: (name: string) => read(`site_admin_${name}`),
  }
}

const openReceiver = async (answer = (response: ServerResponse) => void response.writeHead(204).end()) => {
  const subjects: string[] = []
  const url = await listenInTest(
    createServer(async (request, response) => {
      subjects.push(JSON.parse((await buffer(request)).toString()).subject)
      answer(response)
    }),
  )
  return { url, subjects }
}

test('A webhook gets the changes of its site, from its creation to its removal (V-16)', async () => {
  const { create, put, set, remove } = await start()
  const { url, subjects } = await openReceiver()
  const { id } = await create(url)
  for (const name of ['1.txt', '2.txt', '3.txt']) await put(name)
  await expect.poll(() => subjects).toEqual(['1.txt', '2.txt', '3.txt'])
  await set(id, { enabled: false })
  await put('4.txt')
  await set(id, { enabled: true })
  await put('5.txt')
  await expect.poll(() => subjects.slice(3)).toEqual(['5.txt'])
  await remove(id)
  const other = await openReceiver()
  await create(other.url)
  await put('6.txt')
  await expect.poll(() => other.subjects).toEqual(['6.txt'])
  expect(subjects).toHaveLength(4)
})

test('The sender also notices webhooks and changes that other processes write (V-16)', async () => {
  const { directory, site, put } = await start()
  const { url, subjects } = await openReceiver()
  const target = ['--url', url, '--allow-private-webhooks']
  await administer(directory, ['webhook', 'create', '--site', site, ...target])
  await expect.poll(() => subjects).toEqual([expect.stringMatching(/^webhook\/whk_/)])
  await put('a.txt')
  await administer(directory, ['form', 'create', '--site', site, '--name', 'Contact'])
  await expect.poll(() => subjects.slice(1)).toEqual(['a.txt', expect.stringMatching(/^form/)])
})

test('webhook deliveries names failures, and repeat refuses an unknown id (V-31)', async () => {
  const { directory, site, create, put, deliveries } = await start()
  const { id } = await create('http://127.0.0.1:1/')
  await put('a.txt')
  await expect.poll(async () => (await deliveries(id)).items).not.toHaveLength(0)
  const { stdout } = await administer(directory, ['webhook', 'deliveries', id, '--site', site])
  const [head = '', row = ''] = stdout.split('\n')
  expect(row.indexOf(messages.delivery.refused)).toBe(head.indexOf('answer'))
  const ofHook = [id, '--site', site, '--allow-private-webhooks']
  expect(await administer(directory, ['webhook', 'test', ...ofHook])).toMatchObject({ status: 1, stderr: '' })
  const repeated = await administer(directory, ['webhook', 'repeat', id, 'dlv_1', '--site', site])
  expect(repeated).toEqual(refusal(directory, messages.delivery.unknown(id)))
})

test('webhook test and repeat send to a private target on one machine (V-14, V-31)', async () => {
  const { directory, site, create, put, deliveries } = await start()
  const { url, subjects } = await openReceiver()
  const { id } = await create(url)
  await put('a.txt')
  await expect.poll(async () => (await deliveries(id)).items).toHaveLength(1)
  const [first] = (await deliveries(id)).items
  for (const command of [
    ['test', id],
    ['repeat', id, first.id],
  ]) {
    const flags = ['--site', site, '--allow-private-webhooks']
    expect(await administer(directory, ['webhook', ...command, ...flags])).toMatchObject({ status: 0 })
  }
  expect(subjects).toEqual(['a.txt', `webhook/${id}`, 'a.txt'])
})

test('A target without an answer delays no other, and gets the entry again (V-9, V-15)', async () => {
  const first = await start()
  let hangs = true
  const slow = await openReceiver((response) => void (hangs || response.writeHead(204).end()))
  const quick = await openReceiver()
  const { id } = await first.create(slow.url)
  await first.create(quick.url)
  for (const name of ['1.txt', '2.txt']) await first.put(name)
  await expect.poll(() => quick.subjects).toEqual(['1.txt', '2.txt'])
  await expect.poll(() => slow.subjects).toEqual(['1.txt'])
  const database = new DatabaseSync(join(first.directory, 'site-admin.db'))
  database.exec('UPDATE changes SET at = at - 61000')
  database.close()
  const late = await openReceiver((response) => void (hangs || response.writeHead(204).end()))
  await first.create(late.url)
  await first.put('3.txt')
  await expect.poll(() => [...quick.subjects, ...late.subjects]).toEqual(['1.txt', '2.txt', '3.txt', '3.txt'])
  // The entry of the third webhook has waited only for a moment.
  expect(await first.measure('webhooks_waiting')).toBe(1)
  expect(await first.measure('webhooks_failing')).toBe(0)
  expect(await first.measure('oldest_webhook_failure_age_seconds')).toBe(0)
  await first.stop()
  hangs = false
  const second = await start(first.directory)
  await expect.poll(() => slow.subjects).toEqual(['1.txt', '1.txt', '2.txt', '3.txt'])
  expect(quick.subjects).toHaveLength(3)
  await expect.poll(async () => (await second.deliveries(id)).items).toHaveLength(3)
  await expect.poll(() => second.measure('webhooks_waiting')).toBe(0)
})

test('A private target needs permission, and logs lack its secret (V-4, V-14)', async () => {
  const printed = vi.spyOn(console, 'error')
  const { url, subjects } = await openReceiver()
  const permitted = await start()
  const { id, secret } = await permitted.create(`${url}/path?key=hidden`)
  await permitted.stop()
  const { put, deliveries, measure, logged, set } = await start(permitted.directory, false)
  await put('a.txt')
  await expect.poll(() => measure('webhooks_failing')).toBe(1)
  expect(await measure('oldest_webhook_failure_age_seconds')).toBeGreaterThan(0)
  const { secret: next } = await set(id, { rotate: true })
  expect((await deliveries(id)).items).toMatchObject([{ status: null, attempt: 1 }])
  expect(subjects).toEqual([])
  const log = JSON.stringify([permitted.logged, logged, printed.mock.calls])
  expect(log).toContain('createWebhook')
  for (const hidden of [secret, next, 'hidden']) expect(log).not.toContain(hidden)
})

test('If outcomes cannot be stored, the pauses before a repetition grow (V-9)', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const failures: number[] = []
  vi.spyOn(console, 'error').mockImplementation(() => void failures.push(Date.now()))
  const { url, subjects } = await openReceiver()
  const machine = await openMachine(scratchDirectory(), { role: 'service', durable: false })
  const { sites, webhooks, workflows } = machine.stores
  const site = 1001 as SiteId
  const entryOf = (type: ChangeType) => ({ ...entry, site, type })
  await sites.putDataCentre({ id: 'us', url: 'https://us.example', isDefault: true })
  await sites.createSite({ id: site, name: 'S', dataCentre: 'us', renderingEngine: false }, entryOf('site.created'))
  await webhooks.create(testWebhook({ targetUrl: url, types: ['workflow.*'] }), entryOf('webhook.created'))
  await workflows.start(site, toStoragePath('a.html'), entryOf('workflow.created'))
  const recordOutcome = () => Promise.reject(new ServiceError('outOfSpace'))
  const sender = createWebhookSender({ ...machine.stores, webhooks: { ...webhooks, recordOutcome } }, true)
  onTestFinished(async () => {
    vi.useRealTimers()
    await sender.stop()
    await machine.close()
  })
  sender.start()
  for (let attempt = 1; attempt <= 9; attempt += 1) {
    await expect.poll(() => [subjects.length, failures.length, vi.getTimerCount()]).toEqual([attempt, attempt, 1])
    await vi.advanceTimersToNextTimerAsync()
  }
  const pauses = failures.slice(1).map((time, index) => (time - (failures[index] ?? 0)) / 1_000)
  expect(pauses.map(Math.round)).toEqual([5, 10, 20, 40, 80, 160, 300, 300])
})
