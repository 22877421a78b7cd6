import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { atMost, type Bench, median, quantile, type Table } from './measure/figures.ts'
import { type BenchedService, own, startService } from './measure/trees.ts'

const deliveries = 500
const burst = 2_000
const requests = 2_000
const hangingSites = 5
const webhooksOfSite = 20
const targets = { median: 1_000, growth: 5 }

const start = () => startService(own, {}, ['--allow-private-webhooks'])

const listen = async (listener: RequestListener): Promise<{ readonly server: Server; readonly url: string }> => {
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

const send = async (
  service: BenchedService,
  token: string,
  method: string,
  path: string,
  body: unknown,
): Promise<void> => {
  const headers = { Authorization: token, 'Content-Type': 'application/json' }
  const answer = await fetch(`${service.baseUrl}${path}`, { method, headers, body: JSON.stringify(body) })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}`)
}

interface Issued {
  readonly token: string
}

const rights = ['access:write', 'files:write', 'history:read'].flatMap((right) => ['--right', right])

const issueToken = async (service: BenchedService, sites: readonly number[]): Promise<string> => {
  const ofSites = sites.flatMap((site) => ['--site', String(site)])
  return ((await service.administer('token', 'issue', '--user', 'bench', ...ofSites, ...rights)) as Issued).token
}

const createWebhook = (service: BenchedService, token: string, site: number, targetUrl: string) =>
  send(service, token, 'POST', `/webresources/api/v3/sites/${site}/webhooks`, { targetUrl, types: ['file.*'] })

const put = (service: BenchedService, token: string, site: number, index: number) =>
  send(service, token, 'PUT', `/api/v2/admin/sites/${site}/storage/${index}.txt`, index)

const demoSite = 1001

const measureDeliveries = async (): Promise<Table> => {
  const service = await start()
  const arrivals = new Map<string, PromiseWithResolvers<number>>()
  const arrivalOf = (subject: string) => {
    const known = arrivals.get(subject) ?? Promise.withResolvers<number>()
    arrivals.set(subject, known)
    return known
  }
  const { server, url } = await listen(async (request, response) => {
    arrivalOf(JSON.parse((await buffer(request)).toString()).subject).resolve(performance.now())
    response.writeHead(204).end()
  })
  try {
    const token = await issueToken(service, [demoSite])
    await createWebhook(service, token, demoSite, url)
    const delays: number[] = []
    for (let index = 0; index < deliveries; index++) {
      await put(service, token, demoSite, index)
      const answered = performance.now()
      delays.push(Math.max((await arrivalOf(`${index}.txt`).promise) - answered, 0))
    }
    const begun = performance.now()
    const last = deliveries + burst - 1
    for (let index = deliveries; index <= last; index++) await put(service, token, demoSite, index)
    const changed = performance.now() - begun
    const delivered = (await arrivalOf(`${last}.txt`).promise) - begun
    return {
      title: 'Deliveries of one machine',
      columns: ['figure', 'measured', 'target', 'verdict'],
      rows: [
        [
          'median from the answer of a change to its delivery, ms',
          median(delays).toFixed(1),
          ...atMost(median(delays), targets.median),
        ],
        ['the same, p99', quantile(delays, 0.99).toFixed(1), '', ''],
        [`changes in turn, per second (${burst})`, Math.round((burst / changed) * 1_000), '', ''],
        ['their deliveries, per second', Math.round((burst / delivered) * 1_000), '', ''],
      ],
    }
  } finally {
    server.close()
    server.closeAllConnections()
    await service.stop()
  }
}

/** Adds webhooks to each site, and a change that they must deliver. The target of these webhooks never answers. */
const addHangingWebhooks = async (service: BenchedService, url: string): Promise<string> => {
  const sites = [demoSite]
  while (sites.length < hangingSites) {
    const { id } = (await service.administer('site', 'create', '--name', 'Bench')) as { readonly id: number }
    sites.push(id)
  }
  const token = await issueToken(service, sites)
  for (const site of sites) {
    for (let count = 0; count < webhooksOfSite; count++) await createWebhook(service, token, site, url)
    await put(service, token, site, 0)
  }
  return token
}

/** Two services without webhooks show how much other load changes the figures. */
const measureHanging = async (): Promise<Table> => {
  const { server, url } = await listen(() => {})
  const services = [await start(), await start(), await start()]
  const turns: { readonly service: BenchedService; readonly token: string; readonly times: number[] }[] = []
  try {
    for (const [index, service] of services.entries()) {
      const token = index < 2 ? await issueToken(service, [demoSite]) : await addHangingWebhooks(service, url)
      turns.push({ service, token, times: [] })
    }
    for (let index = 0; index < requests; index++) {
      for (const { service, token, times } of turns) {
        const begun = performance.now()
        await put(service, token, demoSite, index % 100)
        times.push(performance.now() - begun)
      }
    }
    const rowOf = (name: string, share: number) => {
      const [one = 0, two = 0, beside = 0] = turns.map(({ times }) => quantile(times, share))
      const growth = beside - (one + two) / 2
      return [name, ...[one, two, beside, growth].map((value) => value.toFixed(1)), ...atMost(growth, targets.growth)]
    }
    return {
      title: `Requests beside ${hangingSites * webhooksOfSite} webhooks whose targets never answer`,
      columns: ['PUT of a small file, ms', 'without', 'without', 'with', 'growth', 'target', 'verdict'],
      rows: [rowOf('p50', 0.5), rowOf('p99', 0.99)],
    }
  } finally {
    server.close()
    server.closeAllConnections()
    for (const service of services) await service.stop()
  }
}

export const webhooks: Bench = async () => [await measureDeliveries(), await measureHanging()]
