import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { buffer } from 'node:stream/consumers'
import { vi } from 'vitest'
import { idOfChange } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { openMachine } from '../../lib/machine/machine.ts'
import { createRandom, type Random } from '../power-cuts/outage.ts'
import { closeAtOnce, listen } from './listen.ts'
import { storage } from './paths.ts'
import { type SpawnedService, startService } from './spawned-service.ts'
import { testWebhook } from './webhooks.ts'

const misbehaviours = {
  steady: undefined,
  failing: (response) => response.writeHead(500).end(),
  redirecting: (response, trap) => response.writeHead(308, { Location: trap }).end(),
  resetting: (response) => response.socket?.resetAndDestroy(),
  stalling: (response) => setTimeout(() => response.writeHead(204).end(), 50),
  // The receiver never answers.
  hanging: () => {},
  restarting: undefined,
} as const satisfies Record<string, ((response: ServerResponse, trap: string) => unknown) | undefined>

type Kind = keyof typeof misbehaviours

interface Surroundings {
  readonly random: Random
  readonly isDurable: (id: string) => boolean
  readonly behavesWell: () => boolean
  readonly received: () => void
}

/** More wrong answers would use up the attempts for this entry. */
const mostFailures = 4

const openReceiver = async (kind: Kind, { random, isDurable, behavesWell, received }: Surroundings, trap: string) => {
  const first: string[] = []
  const requests = new Map<string, number>()
  const early: string[] = []
  const misbehave = misbehaviours[kind]
  const listener = async (request: Parameters<typeof buffer>[0], response: ServerResponse): Promise<void> => {
    const { id } = JSON.parse((await buffer(request)).toString())
    received()
    const count = (requests.get(id) ?? 0) + 1
    requests.set(id, count)
    if (count === 1) {
      first.push(id)
      if (!isDurable(id)) early.push(id)
    }
    const percent = kind === 'hanging' ? 5 : 30
    if (misbehave && count <= mostFailures && !behavesWell() && random.below(100) < percent) misbehave(response, trap)
    else response.writeHead(204).end()
  }
  let server: Server
  const listenAt = async (port: number): Promise<number> => {
    server = createServer((request, response) => void listener(request, response).catch(() => {}))
    await once(server.listen(port, '127.0.0.1'), 'listening')
    return (server.address() as AddressInfo).port
  }
  const port = await listenAt(0)
  return {
    kind,
    url: `http://127.0.0.1:${port}/`,
    first,
    early,
    requests: () => [...requests.values()].reduce((sum, count) => sum + count, 0),
    close: () => closeAtOnce(server),
    async restart(): Promise<void> {
      closeAtOnce(server)
      await listenAt(port)
    },
  }
}

/** Call this only while the service runs: after a kill, the first connection recovers the database. */
const openDatabase = (directory: string, readOnly: boolean): DatabaseSync =>
  new DatabaseSync(join(directory, 'site-admin.db'), { timeout: 5_000, readOnly })

const passTime = (directory: string): void => {
  const database = openDatabase(directory, false)
  database.exec(`UPDATE webhooks SET record = json_set(record, '$.retries', json((
    SELECT json_group_array(json_set(value, '$.due', 0)) FROM json_each(record, '$.retries'))))`)
  database.close()
}

const flags = ['--port', '0', '--quiet', '--allow-private-webhooks']

const putFiles = async (service: SpawnedService, isOver: () => boolean, acknowledged: () => void): Promise<void> => {
  for (let count = 0; !isOver(); count += 1) {
    const path = `${storage}/${process.pid}-${count % 20}.txt`
    const answer = await service.request(path, { method: 'PUT', body: String(count) }).catch(() => undefined)
    if (!answer?.ok) return
    acknowledged()
  }
}

/** The largest number of changes that are answered before a kill. */
const mostAnswers = 40

/**
 * Kills the service and a receiver again and again during changes. Then lets the service deliver everything, and
 * returns what each receiver got. The clock skips the delays of retries between the kills.
 */
export const killDuringDeliveries = async (directory: string, kills: number, seed: number) => {
  const random = createRandom(seed)
  let database: DatabaseSync | undefined
  let isEnding = false
  let trapped = 0
  let received = () => {}
  const isDurable = (id: string): boolean => {
    const [position, site] = id.split('-').map(Number)
    const found = database?.prepare('SELECT 1 FROM changes WHERE site = ? AND id = ?').get(site ?? 0, position ?? 0)
    return found !== undefined
  }
  const trap = createServer((_, response) => {
    trapped += 1
    response.end()
  })
  const trapUrl = `${await listen(trap)}/`
  const surroundings = { random, isDurable, behavesWell: () => isEnding, received: () => received() }
  const kinds = Object.keys(misbehaviours) as Kind[]
  const receivers = await Promise.all(kinds.map((kind) => openReceiver(kind, surroundings, trapUrl)))
  const restarting = receivers.find(({ kind }) => kind === 'restarting')

  const first = await startService(directory, flags)
  const site = first.siteId as SiteId
  await first.stop()
  const machine = await openMachine(directory)
  for (const { kind, url: targetUrl } of receivers) {
    const webhook = testWebhook({ site, id: `whk_${kind}`, targetUrl, types: ['file.*'] })
    await machine.stores.webhooks.create(webhook, { site, type: 'webhook.created', subject: kind, actor: 'ann' })
  }
  await machine.close()

  const runUntilKilled = async (): Promise<void> => {
    const service = await startService(directory, flags)
    if (random.below(2) === 0) passTime(directory)
    database = openDatabase(directory, true)
    let changes = 1 + random.below(mostAnswers)
    // Half of the kills come during changes, and half during the deliveries that follow.
    let deliveries = random.below(2) * random.below(5 * changes)
    const killAtEnd = () => {
      if (changes <= 0 && deliveries <= 0) service.kill('SIGKILL')
    }
    received = () => {
      deliveries -= 1
      killAtEnd()
    }
    const acknowledged = () => {
      changes -= 1
      if (changes === 5) void restarting?.restart()
      killAtEnd()
    }
    await Promise.all([1, 2, 3].map(() => putFiles(service, () => changes <= 0, acknowledged)))
    await service.ended
    received = () => {}
    database.close()
  }
  for (let kill = 0; kill < kills; kill += 1) await runUntilKilled()

  isEnding = true
  const last = await startService(directory, flags)
  database = openDatabase(directory, true)
  const open = database.prepare(
    `SELECT (SELECT sum(json_array_length(record, '$.retries')) FROM webhooks) + count(*) AS count
       FROM webhooks JOIN changes ON changes.site = webhooks.site AND changes.id > webhooks.position`,
  )
  const missing = () => Number(open.get()?.['count'])
  for (let left = missing(); left > 0; left = missing()) {
    await vi.waitFor(
      () => {
        passTime(directory)
        if (missing() >= left) throw new Error(`${left} deliveries are missing`)
      },
      { timeout: 60_000, interval: 200 },
    )
  }
  const reported = database
    .prepare(`SELECT id FROM changes WHERE site = ? AND type LIKE 'file.%' ORDER BY id`)
    .all(site)
    .map(({ id }) => idOfChange({ site, position: Number(id) }))
  database.close()
  await last.stop()
  for (const { close } of receivers) close()
  closeAtOnce(trap)
  return { reported, trapped, receivers }
}
