import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { atMost, type Bench, median, quantile, type Table } from './measure/figures.ts'
import { atEndpoint } from './measure/grounds.ts'
import { type BenchedService, own, startService } from './measure/trees.ts'

const deliveries = 500
const burst = 2_000
const requests = 2_000
const hangingSites = 5
const webhooksOfSite = 20
const deployedDeliveries = 25
const targets = { median: 1_000, deployedMedian: 5_000, growth: 5 }

const start = () => startService(own, {}, ['--allow-private-webhooks'])

const listen = async (listener: RequestListener): Promise<{ readonly server: Server; readonly url: string }> => {
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

type Service = Pick<BenchedService, 'baseUrl' | 'administer'>

const send = async (service: Service, token: string, method: string, path: string, body?: unknown) => {
  const headers = { Authorization: token, 'Content-Type': 'application/json' }
  const answer = await fetch(`${service.baseUrl}${path}`, { method, headers, body: JSON.stringify(body) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}`)
  return text
}

interface Issued {
  readonly token: string
}

const rights = ['access:write', 'files:write', 'history:read'].flatMap((right) => ['--right', right])

const issueToken = async (service: Service, sites: readonly number[]): Promise<string> => {
  const ofSites = sites.flatMap((site) => ['--site', String(site)])
  return ((await service.administer('token', 'issue', '--user', 'bench', ...ofSites, ...rights)) as Issued).token
}

const webhooksOf = (site: number) => `/webresources/api/v3/sites/${site}/webhooks`

const createWebhook = async (service: Service, token: string, site: number, targetUrl: string): Promise<string> =>
  JSON.parse(await send(service, token, 'POST', webhooksOf(site), { targetUrl, types: ['file.*'] })).id

const put = (service: Service, token: string, site: number, index: number) =>
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

const run = promisify(execFile)
const administration = [join(own.folder, 'admin', 'main.js'), '--target', 'aws', '--json']

const administerDeployment = async (...args: readonly string[]) =>
  JSON.parse((await run(process.execPath, [...administration, ...args])).stdout)

/** Measures a deployment, whose functions refuse targets on this machine. Its lists have the time of each attempt. */
const measureDeployment = async (): Promise<readonly Table[]> => {
  const [dataCentre] = await administerDeployment('data-centre', 'list')
  const service = { baseUrl: dataCentre.url, administer: administerDeployment }
  const named = ['--name', 'Bench', '--data-centre', dataCentre.id]
  const { id: site } = await administerDeployment('site', 'create', ...named)
  const token = await issueToken(service, [site])
  const webhook = await createWebhook(service, token, site, 'https://127.0.0.1/')
  const firstAttempts = async (): Promise<readonly { readonly time: string }[]> => {
    const { items } = JSON.parse(await send(service, token, 'GET', `${webhooksOf(site)}/${webhook}/deliveries`))
    return items.filter(({ attempt }: { readonly attempt: number }) => attempt === 1)
  }
  const delays: number[] = []
  while (delays.length < deployedDeliveries) {
    await put(service, token, site, delays.length)
    const answered = Date.now()
    let attempts = await firstAttempts()
    for (; attempts.length <= delays.length; attempts = await firstAttempts()) await sleep(200)
    delays.push(Math.max(Date.parse(attempts[0]?.time ?? '') - answered, 0))
  }
  const middle = median(delays)
  return [
    {
      title: `Deliveries of the deployment at ${process.env['AWS_ENDPOINT_URL']} (${deployedDeliveries} changes)`,
      columns: ['figure', 'measured', 'target', 'verdict'],
      rows: [
        ['median from the answer of a change to its delivery, ms', middle, ...atMost(middle, targets.deployedMedian)],
        ['the longest, ms', Math.max(...delays), '', ''],
      ],
    },
  ]
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

export const webhooks: Bench = async () => [
  await measureDeliveries(),
  ...(await atEndpoint('deliveries of a deployment are', measureDeployment)),
  await measureHanging(),
]
