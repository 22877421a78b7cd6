import { setImmediate as turn } from 'node:timers/promises'
import type { Context, DynamoDBStreamEvent, SQSEvent } from 'aws-lambda'
import { beforeEach, expect, test, vi } from 'vitest'
import type { RecordChange } from '../../../lib/aws/dynamodb/journal.ts'
import { createWebhooks } from '../../../lib/aws/dynamodb/webhooks.ts'
import { createWebhookWorker } from '../../../lib/aws/lambda/webhook-worker.ts'
import type { WebhookMessage } from '../../../lib/aws/sqs-queues.ts'
import { idOfChange } from '../../../lib/core/history-entry.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { createDeliveryDeps } from '../../../lib/service/deps.ts'
import { repeatDelivery } from '../../../lib/webhooks/deliver.ts'
import type { Message } from '../../../lib/webhooks/target.ts'
import { changeWebhook, createWebhook, removeWebhook, type Webhook } from '../../../lib/webhooks/webhooks.ts'
import { createRandom } from '../../power-cuts/outage.ts'
import { timesToTry } from '../../support/each-call.ts'
import { fillDirectory, storesOver, unsealed } from '../../support/every-operation.ts'
import { entry } from '../../support/history.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { aroundCommands } from '../../support/store-faults.ts'
import { testWebhook } from '../../support/webhooks.ts'

const site = 1001 as SiteId

beforeEach(() => void vi.spyOn(process.stdout, 'write').mockReturnValue(true))

// In milliseconds, as the deployment sets them.
const [longestWork, repeatedAfter] = [28_000, 168_000]

interface Waiting {
  readonly at: number
  readonly event: DynamoDBStreamEvent | SQSEvent
}

interface Habits {
  /** The share of the messages that arrive twice, at another time, or never. */
  readonly disorder?: number
  /** The share of the deliveries at which the worker dies. */
  readonly deaths?: number
  readonly seed?: number
  /** The largest number of turns that others get before a call to the tables. */
  readonly turns?: number
  readonly sent?: (message: Message) => void
}

/** Tables, a stream and a queue whose clock advances only with each event. */
const openWorld = async ({ disorder = 0, deaths = 0, seed = 1, turns = 0, sent: watch }: Habits = {}) => {
  const random = createRandom(seed)
  const chance = () => random.below(1_000) / 1_000
  const tables = openMemoryTables(() => time)
  let time = Date.UTC(2026, 0, 1)
  const clock = { wall: () => time, monotonic: () => time }
  const client = tables.connect()
  aroundCommands(client, 'attempt', async (send) => {
    for (let left = turns && random.below(turns); left > 0; left -= 1) await turn()
    return send()
  })
  const stores = storesOver(client, clock.wall)
  await fillDirectory(stores)
  const waiting: Waiting[] = []
  let sent = 0

  const push = (event: Waiting['event'], delay: number) => {
    sent += 1
    waiting.push({ at: time + delay, event })
  }
  const pushInDisorder = (event: Waiting['event'], delay: number) => {
    const late = () => delay + (chance() < disorder ? chance() * 60_000 : 0)
    push(event, late())
    if (chance() < disorder) push(event, late())
  }

  const messageOf = (body: object) =>
    ({ Records: [{ messageId: String(sent), body: JSON.stringify(body) }] }) as unknown as SQSEvent

  const received = new Map<string, string[]>()
  const busy = new Set<string>()
  const overlaps: string[] = []
  const statuses = new Map<string, () => number>()
  const target = {
    permitsPrivate: true,
    close: () => {},
    async send(message: Message) {
      const { url, headers } = message
      watch?.(message)
      if (busy.has(url)) overlaps.push(url)
      busy.add(url)
      await stores.webhooks.listOfSite(site)
      busy.delete(url)
      const list = received.get(url) ?? []
      received.set(url, [...list, headers['webhook-id'] ?? ''])
      if (chance() < deaths) throw new Error('The worker has died')
      return { status: statuses.get(url)?.() ?? 200 }
    },
  }
  const deps = createDeliveryDeps({ ...stores, seals: unsealed }, { target, clock })
  const repeated = async (message: Message) => {
    watch?.(message)
    return { status: 200 }
  }

  /** Another worker, as another process of the function. */
  const startWorker = () =>
    createWebhookWorker({
      ...deps,
      leases: stores.leases,
      clock,
      queue: {
        send: async ({ site: of, webhook }: WebhookMessage, delay) =>
          pushInDisorder(messageOf({ site: String(of), webhook }), delay * 1000),
      },
    })

  const handle = async ({ event }: Waiting) => {
    const context = { functionName: 'webhooks', getRemainingTimeInMillis: () => longestWork } as Context
    const { batchItemFailures = [] } = (await startWorker()(event, context)) ?? {}
    if (batchItemFailures.length > 0) push(event, repeatedAfter)
  }

  return {
    stores,
    statuses,
    /** The addresses to which two workers sent at the same time. */
    overlaps,
    now: clock.wall,
    repeat: (webhook: Webhook, id: string) => repeatDelivery({ ...deps, target: { send: repeated } }, webhook, id),
    options: { dynamodb: tables.connect(), table: tables.names.webhooks, now: clock.wall },
    /** The times at which the messages arrive, in milliseconds since the epoch. */
    arrivals: () => waiting.map(({ at }) => at),
    redrive: (body: object) => push(messageOf(body), 0),
    receivedBy: (url: string) => received.get(url) ?? [],

    async addWebhook(id: string): Promise<Webhook> {
      const webhook = testWebhook({ id, targetUrl: `https://${id}.example.com/`, types: ['file.*'] })
      await stores.webhooks.create(webhook, { ...entry, site, type: 'webhook.created', subject: id })
      return webhook
    },

    /** With `isLost`, the stream does not report the change. */
    async change(subject: string, isLost = false): Promise<void> {
      await stores.record({ ...entry, site, type: 'file.stored', subject })
      const record = { eventSource: 'aws:dynamodb', dynamodb: { Keys: { site: { N: String(site) } } } }
      if (!isLost) pushInDisorder({ Records: [record] } as unknown as DynamoDBStreamEvent, 0)
    },

    /** Waits `pause` milliseconds, and then handles up to `most` events, three at a time. */
    async pass(most = 3_000, pause = 0): Promise<void> {
      time += pause
      for (let handled = 0; waiting.length > 0; handled += 3) {
        if (handled >= most) return
        waiting.sort((one, other) => one.at - other.at)
        const now = waiting.splice(0, Math.min(3, most - handled))
        time = Math.max(time, now.at(-1)?.at ?? 0)
        await Promise.all(now.map(handle))
      }
    },
    loses: () => chance() < disorder,
  }
}

type World = Awaited<ReturnType<typeof openWorld>>

const storedIds = async ({ stores }: World): Promise<readonly string[]> =>
  (await stores.history.after(site, 0, 10_000)).filter(({ type }) => type === 'file.stored').map(idOfChange)

const { PROVE_COUNT = timesToTry(5), PROVE_SEED = '12' } = process.env
const seeds = Array.from({ length: Number(PROVE_COUNT) }, (_, index) => Number(PROVE_SEED) + index)

const patience = 30_000 + seeds.length * 10_000

interface Hook {
  readonly name: number
  readonly id: string
  readonly created: string
  /** The requests that disabled and enabled the webhook. */
  readonly pauses: { readonly from: string; to?: string }[]
  /** Addresses that get at most `most` messages after this moment. */
  readonly ended: { readonly url: string; readonly moment: number; readonly most: number }[]
  url: string
  isFree: boolean
  isGone: boolean
  repeats: number
}

const nameIn = (url: string): number => Number(/\d+/.exec(url)?.[0])

/** Administrators change webhooks while workers deliver. Returns the webhooks and the messages. */
const changeSettings = async (seed: number) => {
  const random = createRandom(seed)
  const sends: { url: string; entry: string; moment: number; signatures: number }[] = []
  let moment = 0
  const world = await openWorld({
    ...{ disorder: 0.4, deaths: 0.1, turns: 6, seed },
    sent: ({ url, headers: { 'webhook-id': entry = '', 'webhook-signature': signed = '' } }) =>
      void sends.push({ url, entry, moment: moment++, signatures: signed.split(' ').length }),
  })
  const stores = { ...world.stores, seals: unsealed }
  const hooks: Hook[] = []
  const newAuthor = () => ({ actor: 'ann', requestId: `request ${moment++}` })
  const newUrl = (name: number) => {
    const url = `https://${name}.example.com/${moment++}`
    let attempts = 0
    if (name % 3 === 0) world.statuses.set(url, () => (++attempts % 4 === 0 ? 503 : 200))
    return url
  }
  const end = ({ url, ended, repeats }: Hook) => void ended.push({ url, moment: moment++, most: 1 + repeats })

  const create = async (): Promise<void> => {
    const name = moment++
    const [url, author, enabled] = [newUrl(name), newAuthor(), random.below(4) > 0]
    const { id } = await createWebhook(stores, site, { targetUrl: url, types: ['file.*'], enabled }, author)
    const created = author.requestId
    const pauses = enabled ? [] : [{ from: created }]
    hooks.push({ name, id, created, pauses, ended: [], url, isFree: true, isGone: false, repeats: 0 })
  }
  const change = async ({ id }: Hook, given: Parameters<typeof changeWebhook>[2]): Promise<string> => {
    const webhook = (await stores.webhooks.get(site, id)) ?? expect.fail('The webhook is missing')
    const author = newAuthor()
    await changeWebhook(stores, webhook, given, { author, now: world.now() })
    return author.requestId
  }
  const actions = {
    async move(hook: Hook) {
      const targetUrl = newUrl(hook.name)
      await change(hook, { targetUrl })
      end(hook)
      hook.url = targetUrl
    },
    async toggle(hook: Hook) {
      const open = hook.pauses.find(({ to }) => to === undefined)
      const made = await change(hook, { enabled: open !== undefined })
      if (open) open.to = made
      else hook.pauses.push({ from: made })
    },
    rotate: (hook: Hook) => change(hook, { rotate: true }),
    async remove(hook: Hook) {
      await removeWebhook(stores, { ...hook, site, targetUrl: hook.url }, newAuthor())
      hook.isGone = true
      end(hook)
    },
    async repeat(hook: Hook) {
      const [webhook, recent] = [
        await stores.webhooks.get(site, hook.id),
        await stores.webhooks.deliveries(site, hook.id),
      ]
      // Another caller may have removed the webhook meanwhile.
      if (webhook && recent.length > 0) await world.repeat(webhook, random.pick(recent).id).catch(() => {})
    },
  }

  const act = async (): Promise<void> => {
    const kept = hooks.filter(({ isGone }) => !isGone)
    const free = kept.filter(({ isFree }) => isFree)
    // A site has at most 20 webhooks.
    if (free.length < 3 || (kept.length < 15 && random.below(8) === 0)) return create()
    const hook = random.pick(free)
    const action = random.pick(['move', 'toggle', 'toggle', 'rotate', 'remove', 'repeat', 'repeat'] as const)
    const isRepeat = action === 'repeat'
    if (isRepeat) hook.repeats += 1
    else hook.isFree = false
    await actions[action](hook)
    if (isRepeat) hook.repeats -= 1
    else hook.isFree = true
  }
  for (let step = 0; step < 25; step += 1)
    await Promise.all([world.change(`${step}`, world.loses()), act(), act(), act(), world.pass(6)])
  await world.change('the last')
  await world.pass()
  return { world, hooks, sends }
}

test('Webhooks get their entries despite changes and lost messages (V-5, V-9)', { timeout: patience }, async () => {
  vi.spyOn(console, 'error').mockReturnValue()
  for (const seed of seeds) {
    const { world, hooks, sends } = await changeSettings(seed)
    expect(world.overlaps).toEqual([])
    const all = await world.stores.history.after(site, 0, 10_000)
    const files = await storedIds(world)
    const idOf = (request: string) => all.filter(({ requestId }) => requestId === request).map(idOfChange)[0] ?? ''
    for (const { name, id, url, created, pauses, ended, isGone } of hooks) {
      const own = sends.filter((one) => nameIn(one.url) === name)
      const first = [...new Set(own.map(({ entry }) => entry))]
      const order = name % 3 === 0 ? first.toSorted() : first
      const between = (ids: readonly string[], from: string, to = '~') =>
        ids.filter((one) => one > idOf(from) && one < (idOf(to) || to))
      const isOn = !isGone && pauses.every(({ to }) => to !== undefined)
      const since = pauses.at(-1)?.to ?? created
      const found = {
        order,
        isEarly: first.some((one) => one < idOf(created)),
        isPaused: pauses.every(({ from, to }) => between(first, from, to).length <= 1),
        isLate: ended.some(
          (old) => own.filter((one) => one.url === old.url && one.moment > old.moment).length > old.most,
        ),
        ids: between(order, since),
      }
      const ids = isOn ? between(files, since) : found.ids
      const wanted = { order: first.toSorted(), isEarly: false, isPaused: true, isLate: false, ids }
      expect({ seed, name, ...found }).toEqual({ seed, name, ...wanted })
      const { secrets = [], retries = [] } = (await world.stores.webhooks.get(site, id)) ?? {}
      if (isOn) expect({ ...own.at(-1), retries }).toMatchObject({ url, signatures: secrets.length, retries: [] })
    }
  }
})

test('A webhook whose target fails has one message, which arrives in time (V-10)', async () => {
  const world = await openWorld()
  const { targetUrl } = await world.addWebhook('failing')
  world.statuses.set(targetUrl, () => 500)
  await world.change('a')
  await world.pass(1)
  for (let attempt = 1; attempt <= 2; attempt++) {
    await world.pass(1)
    const { retries: [{ due = 0 } = {}] = [] } = (await world.stores.webhooks.get(site, 'failing')) ?? {}
    expect(world.arrivals()).toEqual([expect.toSatisfy((at) => at >= due && at < due + 1_000)])
  }
  world.statuses.set(targetUrl, () => 200)
  for (const subject of ['b', 'c']) {
    await world.change(subject)
    for (const most of [1, 1]) await world.pass(most)
    expect(world.arrivals()).toHaveLength(1)
  }
  await world.pass()
  const [first, ...others] = await storedIds(world)
  expect(world.receivedBy(targetUrl)).toEqual([first, first, ...others, first])
})

test.each([
  ['A worker beside the entry of a new webhook sends no earlier change (V-4)', false],
  ['A new webhook whose own entry was lost begins after a minute', true],
])('%s', async (_, isLost) => {
  const world = await openWorld()
  const { position: __, ...settings } = await world.addWebhook('other')
  const { history } = world.stores
  const record: RecordChange = async (own) => {
    await world.stores.record({ ...own, requestId: 'of another caller', type: 'webhook.changed' })
    await world.change('early')
    await world.pass(6)
    if (!isLost) await world.stores.record(own)
  }
  const webhook = { ...settings, id: 'new', types: [], targetUrl: 'https://new.example.com/' }
  const own = { ...entry, site, type: 'webhook.created', subject: 'webhook/new' } as const
  await createWebhooks({ ...world.options, history, record }).create(webhook, own)
  if (!isLost) await world.change('late')
  await world.pass()
  const ids = (await history.after(site, 0, 10)).map(idOfChange)
  expect(world.receivedBy(webhook.targetUrl)).toEqual(ids.slice(-2))
})

test('A worker also sends an entry that is written while the worker ends (V-9)', async () => {
  const world = await openWorld()
  const { targetUrl } = await world.addWebhook('steady')
  const { leases } = world.stores
  const { giveBack } = leases
  vi.spyOn(leases, 'giveBack').mockImplementationOnce(async (...given) => {
    await world.change('late')
    await world.pass()
    return giveBack(...given)
  })
  await world.change('early')
  await world.pass()
  expect(world.receivedBy(targetUrl)).toEqual(await storedIds(world))
})

test('A worker without time hands the other entries to a new worker at once (V-9)', async () => {
  const world = await openWorld()
  const { targetUrl } = await world.addWebhook('slow')
  world.statuses.set(targetUrl, () => {
    void world.pass(0, 9_000)
    return 200
  })
  for (const subject of ['a', 'b', 'c', 'd', 'e']) await world.change(subject, subject !== 'e')
  await world.pass()
  expect(world.receivedBy(targetUrl)).toEqual(await storedIds(world))
})

test.each([
  ['A failing target', 500, 0, [[1, 0]]],
  ['A slow target', 200, 40_000, [[0, 1]]],
  ['No other target', 200, 0, []],
])('%s is in the metrics of webhooks, as on one machine (V-26, V-28)', async (_, status, pause, expected) => {
  const world = await openWorld()
  const { targetUrl, id: webhook } = await world.addWebhook('one')
  world.statuses.set(targetUrl, () => {
    void world.pass(0, pause)
    return status
  })
  for (const subject of ['a', 'b', 'c']) await world.change(subject)
  await world.pass(24)
  const lines = vi.mocked(process.stdout.write).mock.calls.map(([line]) => JSON.parse(String(line)))
  const names = ['site_admin_webhooks_failing', 'site_admin_webhooks_waiting']
  const age = 'site_admin_oldest_webhook_failure_age_seconds'
  const Metrics = names.map((Name) => ({ Name, Unit: 'Count' })).toSpliced(1, 0, { Name: age, Unit: 'Seconds' })
  const CloudWatchMetrics = [{ Namespace: 'site-admin', Dimensions: [['FunctionName']], Metrics }]
  for (const line of lines) {
    expect(line).toMatchObject({ level: 'WARN', FunctionName: 'webhooks', site, webhook, _aws: { CloudWatchMetrics } })
  }
  expect([...new Set(lines.map((line) => names.map((name) => line[name]).join()))]).toEqual(expected.map(String))
  const { failingSince = world.now() } = (await world.stores.webhooks.get(site, webhook)) ?? {}
  expect(lines.at(-1)?.[age] ?? 0).toBe((world.now() - failingSince) / 1000)
})

test('A redrive ends the report of Lambda about a failed batch of the stream (V-17)', async () => {
  const world = await openWorld()
  const { targetUrl } = await world.addWebhook('steady')
  const DDBStreamBatchInfo = { shardId: 'shard', startSequenceNumber: '1', endSequenceNumber: '1', batchSize: 1 }
  await world.change('a', true)
  world.redrive({ version: '1.0', requestContext: { condition: 'RetryAttemptsExhausted' }, DDBStreamBatchInfo })
  await world.pass(3)
  expect(world.arrivals()).toEqual([])
  await world.change('b')
  await world.pass()
  expect(world.receivedBy(targetUrl)).toEqual(await storedIds(world))
})
