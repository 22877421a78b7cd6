import { statfsSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { cachedLookup } from '../lib/core/cached-lookup.ts'
import { systemClock } from '../lib/core/time.ts'
import { signInOutcomes, type Telemetry } from '../lib/http/request.ts'
import { UsageError } from '../lib/machine/directory/faults.ts'
import type { Machine } from '../lib/machine/machine.ts'
import packageFile from '../package.json' with { type: 'json' }
import { surviveShortage } from '../server/server.ts'
import { listen, withPort } from './listeners.ts'

const { createServer } = process.getBuiltinModule('node:http')

export interface MetricsAddress {
  readonly host: string
  readonly port: number
}

interface Watched extends Pick<Machine, 'measures'> {
  readonly directory: Pick<Machine['directory'], 'path'>
  readonly stores: { readonly live: Pick<Machine['stores']['live'], 'count'> }
}

// In seconds.
const buckets = [0.005, 0.02, 0.1, 0.5, 2, 5, 20]

// In milliseconds. A count of all blobs may take long, so a scrape waits only briefly for it and shows the last count.
const blobs = { interval: 300_000, longestWait: 1_000 }

const gaugesOf = ({ measures, directory, stores }: Watched) => {
  let blobBytes = Number.NaN
  const count = async () => {
    blobBytes = await measures.blobBytes()
    return { blobBytes }
  }
  const counted = cachedLookup(count, { ttl: blobs.interval, max: 1, now: systemClock.monotonic })
  const lastCount = async () => {
    await Promise.race([counted('all'), sleep(blobs.longestWait)])
    return blobBytes
  }
  const secondsSince = (moment: number | null | undefined) => (moment ? (Date.now() - moment) / 1000 : 0)
  const free = async () => {
    const { bavail, bsize } = statfsSync(directory.path)
    return bavail * bsize
  }
  const webhooks = (kind: 'waiting' | 'failing') => async () => (await measures.webhooks())[kind]
  return {
    database_bytes: ['The size of the database.', measures.databaseBytes],
    blob_bytes: ['The size of all blobs.', lastCount],
    disk_free_bytes: ['The free space of the disk of the data directory.', free],
    oldest_removal_age_seconds: [
      'The age of the oldest open removal of a folder.',
      async () => secondsSince(await measures.oldestRemoval()),
    ],
    oldest_webhook_failure_age_seconds: [
      'The longest time for which all deliveries of a webhook have failed.',
      async () => secondsSince((await measures.webhooks()).failingSince),
    ],
    webhooks_waiting: ['The number of webhooks with changes that have waited for a minute.', webhooks('waiting')],
    webhooks_failing: ['The number of webhooks whose last delivery failed.', webhooks('failing')],
    listeners: ['The number of requests that wait for changes.', async () => stores.live.count()],
  } as const satisfies Record<string, readonly [help: string, read: () => Promise<number>]>
}

const named = <Label extends string>(registry: Registry, name: string, help: string, ...labelNames: Label[]) => ({
  name: `site_admin_${name}`,
  help,
  labelNames,
  registers: [registry],
})

// Counts the bytes of all connections of the servers.
const createByteCounts = (registry: Registry) => {
  const open = new Set<Socket>()
  const ended = { bytesRead: 0, bytesWritten: 0 }
  const count = (name: string, help: string, bytes: keyof typeof ended) =>
    new Counter({
      ...named(registry, name, help),
      collect() {
        this.reset()
        this.inc([...open].reduce((sum, socket) => sum + socket[bytes], ended[bytes]))
      },
    })
  count('received_bytes_total', 'Bytes that callers sent.', 'bytesRead')
  count('sent_bytes_total', 'Bytes that were sent to callers.', 'bytesWritten')
  return (server: Server): void => {
    server.on('connection', (socket) => {
      open.add(socket)
      socket.once('close', () => {
        open.delete(socket)
        ended.bytesRead += socket.bytesRead
        ended.bytesWritten += socket.bytesWritten
      })
    })
  }
}

// V-26: labels have only values of the service itself, so callers cannot add labels.
const createCounts = (registry: Registry) => {
  const requests = new Counter(named(registry, 'requests_total', 'Answered requests.', 'operation', 'status'))
  const signIns = new Counter(named(registry, 'sign_ins_total', 'Sign-ins and exchanges of tokens.', 'outcome'))
  const time = 'The time from a request to the end of its answer.'
  const durations = new Histogram({ ...named(registry, 'request_duration_seconds', time, 'operation'), buckets })
  for (const outcome of signInOutcomes) signIns.inc({ outcome }, 0)
  return (telemetry: Telemetry): Telemetry => ({
    ...telemetry,
    signIn(record) {
      signIns.inc({ outcome: record.outcome })
      telemetry.signIn?.(record)
    },
    request(record) {
      requests.inc({ operation: record.operation, status: record.status })
      durations.observe({ operation: record.operation }, record.durationMs / 1000)
      telemetry.request(record)
    },
  })
}

// Serves `GET /metrics` without a token (V-25).
const createMetricsServer = (registry: Registry) => {
  const server = createServer((request, response) => {
    request.resume()
    if (!/^(GET|HEAD) \/metrics(\?|$)/.test(`${request.method} ${request.url}`))
      return void response.writeHead(404).end()
    registry.metrics().then(
      (text) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
      (error) => {
        console.error('The metrics could not be read:', error)
        response.writeHead(500).end()
      },
    )
  })
  surviveShortage(server)
  server.maxConnections = 16
  server.setTimeout(30_000)
  return server
}

export const createMetrics = (watched: Watched) => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const info = named(registry, 'info', 'The version of the service.', 'version')
  new Gauge(info).set({ version: packageFile.version }, 1)
  for (const [name, [help, read]] of Object.entries(gaugesOf(watched))) {
    new Gauge({
      ...named(registry, name, help),
      async collect() {
        this.set(await read().catch(() => Number.NaN))
      },
    })
  }
  const server = createMetricsServer(registry)
  return {
    watchServer: createByteCounts(registry),

    /** Counts requests and sign-ins, and passes the records on. */
    alsoTo: createCounts(registry),

    /** Returns the address of the metrics. Throws UsageError if nothing can listen there. */
    async listen({ host, port }: MetricsAddress): Promise<string> {
      const taken = await listen(server, host, port).catch((cause) => {
        throw new UsageError(`Nothing can listen on ${host}:${port}. Choose another address with --metrics.`, { cause })
      })
      return `http://${withPort(taken.address, taken.port)}/metrics`
    },

    close(): void {
      server.close()
      server.closeAllConnections()
    },
  }
}
