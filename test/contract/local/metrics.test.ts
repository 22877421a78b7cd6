import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { Server } from 'node:net'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { ownMetrics } from '../../../lib/config/functions.ts'
import { createMetrics } from '../../../local/metrics.ts'
import { createReadiness } from '../../../local/service.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { storage } from '../../support/paths.ts'
import { serveHere } from '../../support/serve-here.ts'

const address = { host: '127.0.0.1', port: 0 }

const start = async (metrics?: typeof address, dataDirectory = scratchDirectory()) => {
  const service = await serveHere({ dataDirectory, ...(metrics && { metrics }) })
  const send = async (path: string, init: RequestInit = {}) => {
    const headers = { Authorization: service.demo?.token ?? '', ...init.headers }
    const answer = await fetch(`${service.baseUrl}${path}`, { ...init, headers })
    await answer.arrayBuffer()
    return answer.status
  }
  return { ...service, send }
}

const signIn = (send: (path: string, init: RequestInit) => Promise<number>, username: string) =>
  send('/api/v2/admin/tokens', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ username, password: 'wrong horse battery' }),
  })

test('the metrics count requests, bytes and sign-ins, and the data (V-25, V-26)', async () => {
  const { send, read, demo, baseUrl } = await start(address)
  for (const name of ['a', 'b']) await send(`${storage}/${name}`, { method: 'PUT', body: 'x'.repeat(40_000) })
  await send(`${storage}/nothing`)
  await signIn(send, 'ann')
  expect(await read('site_admin_requests_total{operation="putPath",status="200"}')).toBe(2)
  expect(await read('site_admin_requests_total{operation="readPath",status="404"}')).toBe(1)
  expect(await read('site_admin_request_duration_seconds_count{operation="putPath"}')).toBe(2)
  expect(await read('site_admin_sign_ins_total{outcome="refused"}')).toBe(1)
  expect(await read('site_admin_sign_ins_total{outcome="too many"}')).toBe(0)
  expect(await read('site_admin_sign_ins_total{outcome="not over https"}')).toBeUndefined()
  expect(await read('site_admin_received_bytes_total')).toBeGreaterThan(80_000)
  expect(await read('site_admin_sent_bytes_total')).toBeGreaterThan(100)
  expect(await read('site_admin_database_bytes')).toBeGreaterThan(100_000)
  expect(await read('site_admin_blob_bytes')).toBe(80_000)
  expect(await read('site_admin_oldest_removal_age_seconds')).toBe(0)
  expect(await read('site_admin_disk_free_bytes')).toBeGreaterThan(0)
  expect(await read('site_admin_info{version="0.1.0"}')).toBe(1)
  const stream = new AbortController()
  const headers = { Authorization: demo?.token ?? '', Accept: 'text/event-stream' }
  await fetch(`${baseUrl}/api/v2/admin/sites/current/changes`, { headers, signal: stream.signal })
  expect(await read('site_admin_listeners')).toBe(1)
  stream.abort()
  await expect.poll(() => read('site_admin_listeners')).toBe(0)
})

test('the metrics come without a long count of blobs or a measure that fails (V-26)', async () => {
  const counted = Promise.withResolvers<number>()
  const measures = {
    databaseBytes: () => Promise.reject(new Error('unreadable')),
    blobBytes: () => counted.promise,
    oldestRemoval: async () => undefined,
    webhooks: async () => ({ waiting: 0, failing: 0, failingSince: null }),
  }
  const watched = { directory: { path: scratchDirectory() }, stores: { live: { count: () => 0 } } }
  const metrics = createMetrics({ measures, ...watched })
  const url = await metrics.listen(address)
  const read = async () => {
    const text = await (await fetch(url)).text()
    return ['database', 'blob'].map((name) => new RegExp(`^site_admin_${name}_bytes (.*)$`, 'm').exec(text)?.[1])
  }
  expect(await read()).toEqual(['Nan', 'Nan'])
  counted.resolve(7)
  expect(await read()).toEqual(['Nan', '7'])
  metrics.close()
})

test('callers cannot add labels, and labels lack names, paths and tokens (V-26)', async () => {
  const { send, scrape, demo } = await start(address)
  const rounds = async (name: string) => {
    for (const path of [`/${name}`, `${storage}/${name}`, `/api/v1/admin/sites/${name}/webforms`]) await send(path)
    await signIn(send, name)
    await send('/health', { headers: { Authorization: name, 'User-Agent': name } })
    return scrape()
  }
  // The sign-ins after the fifth are refused as too many, and so count under another status.
  const isOwn = (line: string) => line.startsWith('site_admin_') && !line.includes('"signIn"')
  const namesIn = (lines: readonly string[]) =>
    lines
      .filter(isOwn)
      .map((line) => line.replace(/ \S+$/, ''))
      .toSorted()
  const first = await rounds('mallory-1')
  for (let round = 2; round < 12; round++) await rounds(`mallory-${round}`)
  const last = await rounds('mallory-99')
  expect(namesIn(last)).toEqual(namesIn(first))
  expect(last.join('\n')).not.toMatch(new RegExp(`mallory|127\\.0\\.0\\.1|${demo?.token}`))
})

const docs = join(import.meta.dirname, '..', '..', '..', 'docs')
const alerts = join(docs, 'alerts.yaml')
const metricsIn = (text: string) => [...new Set(text.match(/\bsite_admin_\w+?(?=_bucket|_sum|_count|\b)/g))].toSorted()

test('The guide has a place on AWS for each metric of the service (V-28)', async () => {
  const { send, scrape } = await start(address)
  await send('/health')
  const [, table = ''] = readFileSync(join(docs, 'events.md'), 'utf8').split('| Metric | On AWS |')
  const rows = table.split('\n\n', 1).join().split('\n')
  expect(metricsIn(rows.join())).toEqual(metricsIn((await scrape()).join('\n')))
  const { namespace: _, ...published } = ownMetrics
  expect(metricsIn(rows.filter((row) => row.includes('| published')).join())).toEqual(
    Object.values(published).toSorted(),
  )
})

test('every metric of the alert rules exists (V-27)', async () => {
  const { send, scrape } = await start(address)
  await send('/health')
  const known = new Set((await scrape()).map((line) => /^\w+/.exec(line)?.[0]))
  const rules = readFileSync(alerts, 'utf8').split('- alert: ').slice(1)
  expect(rules.length).toBeGreaterThan(5)
  for (const rule of rules) {
    const [alert] = rule.split('\n')
    const used = rule.match(/\b(?:site_admin|nodejs|process)_\w+/g) ?? []
    expect({ alert, missing: used.filter((name) => !known.has(name)) }).toEqual({ alert, missing: [] })
    expect(rule).toMatch(/expr: .+summary: .+action: ./s)
  }
})

test.for([
  ['a disk that is full in a day', 'SiteAdminDiskFull', 'site_admin_disk_free_bytes', '9e11-1e9x500', '400m'],
  ['a site with all its listeners', 'SiteAdminListenersFull', 'site_admin_listeners', '1000x30', '20m'],
  ['a large upload after the first scrape', 'none', 'site_admin_disk_free_bytes', '1e11x3 98e9x30', '14m'],
  ['another program that is busy', 'none', 'nodejs_eventloop_lag_p99_seconds', '1x30', '20m'],
] as const)('the alert for %s: %s (V-27)', ([, alert, series, values, time], { skip }) => {
  skip(spawnSync('promtool', ['--version']).status !== 0, 'This machine has no promtool')
  const firing = {
    expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
    eval_time: time,
    exp_samples: alert === 'none' ? [] : [{ labels: `{alertname="${alert}"}`, value: 1 }],
  }
  const file = join(scratchDirectory(), 'tests.json')
  const one = { interval: '1m', input_series: [{ series, values }], promql_expr_test: [firing] }
  writeFileSync(file, JSON.stringify({ rule_files: [alerts], tests: [one] }))
  expect(spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
})

test('the service has no metrics at its own port, or without the flag (V-25)', async () => {
  const { metricsUrl, send } = await start()
  expect([metricsUrl, await send('/metrics')]).toEqual(['', 404])
})

test('the port of the metrics serves nothing else, and closes with the service (V-25)', async () => {
  const { metricsUrl, stop } = await start(address)
  const statusOf = async (path: string, init?: RequestInit) => (await fetch(new URL(path, metricsUrl), init)).status
  expect([await statusOf('/'), await statusOf('/metrics', { method: 'POST', body: 'x' })]).toEqual([404, 404])
  expect(await statusOf('/metrics?name=a', { method: 'HEAD' })).toBe(200)
  await stop()
  await expect(fetch(metricsUrl)).rejects.toThrow()
})

test('the service survives a connection that the metrics cannot accept (O-19)', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen')
  const { read } = await start(address)
  const reported = vi.spyOn(console, 'error').mockReturnValue()
  const shortage = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' })
  for (const server of listen.mock.contexts) if (server instanceof Server) server.emit('error', shortage)
  expect(reported).toHaveBeenCalledTimes(2)
  expect(await read('site_admin_listeners')).toBe(0)
})

test('the service does not start if the port of the metrics is taken (V-25)', async () => {
  const { metricsUrl } = await start(address)
  const directory = scratchDirectory()
  const taken = { ...address, port: Number(new URL(metricsUrl).port) }
  await expect(start(taken, directory)).rejects.toThrow('--metrics')
  expect((await start(address, directory)).demo).toBeDefined()
})

test('a service is ready after its start, and not before (V-29)', async () => {
  const readiness = createReadiness(scratchDirectory())
  await expect(readiness.check()).rejects.toMatchObject({ code: 100503 })
  readiness.started()
  await expect(readiness.check()).resolves.toBeUndefined()
  const { send } = await start()
  expect(await send('/health?ready')).toBe(200)
})
