import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordOf } from '../../../lib/core/names.ts'
import { atMost, inTurns, mebibyte, type Table } from '../measure/figures.ts'
import { type BenchedService, startService, type Tree, trees } from '../measure/trees.ts'

const readers = 2_500
const runs = 21
const storage = '/api/v2/admin/sites/current/storage'
const targets = { growth: 400, kept: 40, ratio: 1.05 }

const put = async ({ baseUrl, token }: BenchedService, name: string, size: number): Promise<void> => {
  const headers = { Authorization: token, 'Content-Type': 'text/plain' }
  const answer = await fetch(`${baseUrl}${storage}/${name}`, { method: 'PUT', headers, body: Buffer.alloc(size, 'x') })
  if (!answer.ok) throw new Error(`PUT of ${name}: ${answer.status} ${await answer.text()}`)
}

const linkTo = async ({ baseUrl, token }: BenchedService, name: string): Promise<URL> => {
  const answer = await fetch(`${baseUrl}${storage}/${name}?link`, { headers: { Authorization: token } })
  return new URL(((await answer.json()) as { url: string }).url)
}

/** Sends a request on its own connection. */
const ask = ({ hostname, port, pathname, search }: URL, headers = ''): Socket => {
  const socket = connect(Number(port), hostname)
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n${headers}\r\n`)
  return socket
}

/** Opens readers that read only the head of their answer. Returns the memory of the service, in MiB. */
const besideReaders = async (service: BenchedService, link: URL) => {
  const sockets: Socket[] = []
  for (let reader = 0; reader < readers; reader += 50) {
    const some = Array.from({ length: 50 }, () => ask(link).on('error', () => {}))
    sockets.push(...some)
    await Promise.all(some.map((socket) => once(socket, 'data').then(() => socket.pause())))
  }
  // Waits until the buffers of the system are full.
  await sleep(3_000)
  const memory = service.process.reset()
  for (const socket of sockets) socket.destroy()
  await sleep(5_000)
  return { beside: memory, after: service.process.reset() }
}

const measureMemory = async (tree: Tree) => {
  const service = await startService(tree)
  try {
    await put(service, 'file', 16 * mebibyte)
    const link = await linkTo(service, 'file')
    const before = service.process.reset()
    const { beside, after } = await besideReaders(service, link)
    const [growth, kept] = [beside - before, after - before]
    return [['beside them', growth, targets.growth] as const, ['5 s after them', kept, targets.kept] as const].map(
      ([when, value, target]) => {
        const figure = `growth by ${readers} readers that read nothing, ${when}, MiB`
        return [tree.name, figure, Math.round(value), ...atMost(value, target)]
      },
    )
  } finally {
    await service.stop()
  }
}

const timeOfGet = async ({ baseUrl, token }: BenchedService): Promise<number> => {
  const startedAt = performance.now()
  const socket = ask(new URL(`${baseUrl}${storage}/large`), `Authorization: ${token}\r\n`)
  let length = 0
  socket.on('data', (chunk) => {
    length += chunk.length
  })
  await once(socket, 'close')
  if (length < 256 * mebibyte) throw new Error(`Only ${length} bytes arrived`)
  return performance.now() - startedAt
}

const measureGets = async (compared: readonly Tree[]) => {
  const services = await Promise.all(compared.map((tree) => startService(tree, { LARGEST_FILE: `${256 * mebibyte}` })))
  try {
    for (const service of services) await put(service, 'large', 256 * mebibyte)
    const gets = services.map((service, index) => [String(index), () => timeOfGet(service)] as const)
    const times = await inTurns(runs, recordOf(gets))
    return compared.map(({ name }, index) => {
      const time = times[index] ?? 0
      const judged = index === 0 ? ['', ''] : atMost(time / (times[0] ?? 0), targets.ratio, ' x')
      return [name, `GET of 256 MiB, ms (median of ${runs}, in turns)`, Math.round(time), ...judged]
    })
  } finally {
    for (const service of services) await service.stop()
  }
}

/** Slow readers of a file cost memory, and fast ones cost time. */
export const measureReaders = async (): Promise<Table> => {
  const compared = trees()
  const rows = await measureGets(compared)
  for (const tree of compared) rows.push(...(await measureMemory(tree)))
  return { title: 'Readers of files', columns: ['tree', 'figure', 'value', 'target', 'verdict'], rows }
}
