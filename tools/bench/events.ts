import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { connect as connectClient } from '../../client/src/index.ts'
import type { createLive } from '../../console/page/live.ts'
import { atMost, type Bench, median, type Table } from './measure/figures.ts'
import { type BenchedService, own, startService, trees } from './measure/trees.ts'

const listeners = 1_000
const changes = 50
const hour = 3_600_000
const targets = { growth: 64, delay: 1_000 }
const site = '/api/v2/admin/sites/current'

const listen = async ({ baseUrl, token }: BenchedService, onChange: () => void): Promise<Socket> => {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  const head = ['Host: bench', `Authorization: ${token}`, 'Accept: text/event-stream']
  socket.write(`GET ${site}/changes HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`)
  await once(socket, 'data')
  socket.setEncoding('latin1').on('data', (text: string) => text.includes('data: {') && onChange())
  return socket
}

/** Stores a file. Returns the milliseconds from its answer until every listener has received the change. */
const measureDelay = async (service: BenchedService, sockets: { heard: number }, index: number): Promise<number> => {
  sockets.heard = 0
  const headers = { Authorization: service.token, 'Content-Type': 'text/plain' }
  await fetch(`${service.baseUrl}${site}/storage/${index}`, { method: 'PUT', headers, body: 'x' })
  const answered = performance.now()
  while (sockets.heard < listeners) await turn()
  return performance.now() - answered
}

const measureListeners = async (): Promise<Table> => {
  const service = await startService(own)
  const sockets: Socket[] = []
  const counted = { heard: 0 }
  try {
    const before = service.process.reset()
    while (sockets.length < listeners) {
      const some = Array.from({ length: 50 }, () => listen(service, () => void counted.heard++))
      sockets.push(...(await Promise.all(some)))
    }
    const idle = service.process.reset() - before
    const delays: number[] = []
    for (let index = 0; index < changes; index++) delays.push(await measureDelay(service, counted, index))
    const peak = service.process.peak() - before
    return {
      title: `${listeners.toLocaleString('en')} listeners of a site on one machine`,
      columns: ['figure', 'measured', 'target', 'verdict'],
      rows: [
        ['growth of memory while nothing happens, MiB', Math.round(idle), ...atMost(idle, targets.growth)],
        [`the same with the garbage of ${changes} changes, MiB`, Math.round(peak), ...atMost(peak, targets.growth)],
        [
          'median time until all have the change, ms',
          Math.round(median(delays)),
          ...atMost(median(delays), targets.delay),
        ],
      ],
    }
  } finally {
    for (const socket of sockets) socket.destroy()
    await service.stop()
  }
}

const json = (value: unknown): Response =>
  new Response(JSON.stringify(value), { headers: { 'Content-Type': 'application/json' } })

/** Returns a stream that sends a comment every 15 seconds, and that ends after some milliseconds. */
const streamFor = (milliseconds: number): Response => {
  const send = (controller: ReadableStreamDefaultController<Uint8Array>, left: number): void => {
    controller.enqueue(new TextEncoder().encode(':\n\n'))
    if (left > 0) setTimeout(send, Math.min(15_000, left), controller, left - 15_000)
    else controller.close()
  }
  const body = new ReadableStream<Uint8Array>({ start: (controller) => send(controller, milliseconds) })
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
}

const page = { items: [], next: null }
const answers: Readonly<Record<string, (url: URL) => Promise<Response>>> = {
  'on one machine': async (url) => (url.searchParams.has('wait') ? streamFor(2 * hour) : json(page)),
  'on AWS with streaming': async (url) => (url.searchParams.has('wait') ? streamFor(58_000) : json(page)),
  'on AWS without streaming': async (url) => {
    const seconds = Number(url.searchParams.get('wait') ?? 0)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
    return json(page)
  },
}

/** Counts the requests that a visible console sends in an hour without changes. */
const countRequests = async (folder: string, answer: (url: URL) => Promise<Response>): Promise<number> => {
  const module: { readonly createLive: typeof createLive } = await import(join(folder, 'console/page/live.ts'))
  const { createLive: create } = module
  let requests = 0
  const client = await connectClient({
    url: 'https://bench.example',
    token: 'token',
    fetch: async (text) => {
      const url = new URL(text)
      if (url.pathname.endsWith('/sites')) return json({ items: [{ id: 1, name: 'Bench', url: url.origin }] })
      requests += 1
      return answer(url)
    },
  })
  mock.timers.enable({ apis: ['setTimeout'] })
  const end = create({ isVisible: () => true, onVisible: () => () => {}, onOnline: () => {} }).follow(client)
  for (let passed = 0; passed < hour; passed += 500) {
    for (let turns = 0; turns < 5; turns++) await turn()
    mock.timers.tick(500)
  }
  end()
  mock.timers.reset()
  return requests
}

const measureConsole = async (): Promise<Table> => {
  const rows: (string | number)[][] = []
  for (const tree of trees())
    for (const [where, answer] of Object.entries(answers))
      rows.push([tree.name, where, await countRequests(tree.folder, answer)])
  return {
    title: 'The requests of an open console in an hour without changes',
    columns: ['tree', 'where', 'requests'],
    rows,
  }
}

export const events: Bench = async () => [await measureConsole(), await measureListeners()]
