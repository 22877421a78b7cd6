import { randomBytes } from 'node:crypto'
import { Webhook as Verifier } from 'standardwebhooks'
import { beforeEach, expect, test } from 'vitest'
import type { ChangeType } from '../../../lib/core/history-entry.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { unlimited } from '../../../lib/core/time.ts'
import { unsealed } from '../../../lib/machine/tables/webhooks.ts'
import { createDeliveryDeps } from '../../../lib/service/deps.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { deliverNext, repeatDelivery } from '../../../lib/webhooks/deliver.ts'
import type { Message, TargetAnswer } from '../../../lib/webhooks/target.ts'
import {
  changeWebhook as applyChange,
  createWebhook,
  keptDeliveries,
  mostRetries,
  type Webhook,
} from '../../../lib/webhooks/webhooks.ts'
import { describeOn, entry, hands } from '../../support/hands.ts'

const minute = 60_000
const day = 1_440 * minute
const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`
const ok: TargetAnswer = { status: 204 }
const failure: TargetAnswer = { fault: 'refused' }

let now = Date.now()
const clock = { wall: () => now, monotonic: () => now }
describeOn({ kinds: hands, subject: 'deliveries', clock }, (hand) => {
  const { webhooks, deliveries, history, sites, workflows } = hand.stores

  let site = 0 as SiteId
  let sent: Message[] = []
  let answer: (message: Message) => TargetAnswer | Promise<TargetAnswer> = () => ok
  const target = {
    permitsPrivate: false,
    close: () => {},
    async send(message: Message) {
      sent.push(message)
      return answer(message)
    },
  }
  const deps = createDeliveryDeps({ ...hand.stores, seals: unsealed }, { target, clock })
  const deliver = (id = 'whk_one', deadline = unlimited) => deliverNext(deps, site, id, deadline)
  /** The subjects of the deliveries since the last call of this function. */
  const subjects = () => sent.splice(0).map(({ body }) => JSON.parse(body).subject)
  const types = () => sent.splice(0).map(({ body }) => JSON.parse(body).type)
  const entryOf = (type: ChangeType, subject: string, of = site) => ({ site: of, type, subject, actor: 'ann' })
  const change = (subject: string, of = site) =>
    workflows.start(of, toStoragePath(subject), entryOf('workflow.created', subject, of))
  const create = async (details: Partial<Webhook> = {}) => {
    const webhook: Webhook = {
      site,
      id: 'whk_one',
      targetUrl: 'https://hooks.example/in',
      types: ['workflow.*'],
      subject: '',
      enabled: true,
      description: '',
      secrets: [{ sealed: newSecret() }],
      position: 0,
      retries: [],
      ...details,
    }
    await webhooks.create(webhook, entryOf('webhook.created', `webhook/${webhook.id}`, webhook.site))
    return webhook
  }
  const changeWebhook = (change: Partial<Webhook>, id = 'whk_one') =>
    webhooks.change(site, id, (present) => ({ ...present, ...change }), entryOf('webhook.changed', `webhook/${id}`))
  const stored = async (id = 'whk_one') => (await webhooks.get(site, id)) ?? expect.fail('The webhook is missing')

  beforeEach(async () => {
    site = (site + 1) as SiteId
    sent = []
    answer = () => ok
    now = Date.now()
    await sites.putDataCentre({ id: 'us', url: 'https://us.example', isDefault: true })
    await sites.createSite({ id: site, name: 'S', dataCentre: 'us', renderingEngine: false }, { ...entry, site })
  })

  const put = (webhook: Webhook, given: Parameters<typeof applyChange>[2]) =>
    applyChange({ webhooks, seals: unsealed }, webhook, given, { author: { actor: 'ann' }, now })

  test('A rotated secret is used for another 24 hours, and at most 4 secrets sign (V-5)', async () => {
    const webhook = await create()
    const rotate = () => put(webhook, { rotate: true })
    const signatures = async () => {
      await change(`${randomBytes(8).toString('hex')}.html`)
      await deliver()
      return sent.at(-1)?.headers['webhook-signature']?.split(' ').length
    }
    const { secret = '' } = (await rotate()) ?? {}
    expect(await signatures()).toBe(2)
    const [{ headers = {}, body = '' } = {}] = sent
    for (const each of [secret, ...webhook.secrets.map(({ sealed }) => sealed)])
      expect(new Verifier(each).verify(body, headers)).toMatchObject({ specversion: '1.0' })
    now += day / 2
    await rotate()
    expect(await signatures()).toBe(3)
    now += day / 2
    expect(await signatures()).toBe(2)
    for (let time = 0; time < 4; time++) await rotate()
    expect(await signatures()).toBe(4)
  })

  test('Enabling an enabled webhook changes neither its position nor its failures (V-5)', async () => {
    answer = () => failure
    const webhook = await create()
    await change('a.html')
    await deliver()
    const before = await stored()
    await change('b.html')
    await put(webhook, { enabled: true })
    expect(await stored()).toEqual(before)
  })

  test('Each entry that the webhook reports is sent once, in order (V-2, V-9, V-34)', async () => {
    await create({ subject: 'in/' })
    await change('in/early.html')
    await create({ id: 'whk_late', position: (await history.before(site, undefined, 1))[0]?.position ?? 0 })
    const later = ['in/1.html', 'out/2.html', 'in/3.html', 'in4.html', 'in', 'in/5.html']
    for (const subject of later) await change(subject)
    await deliver()
    expect(subjects()).toEqual(['in/early.html', 'in/1.html', 'in/3.html', 'in', 'in/5.html'])
    await deliver()
    await deliver('whk_late')
    expect(subjects()).toEqual(later)
    const end = (await history.before(site, undefined, 1))[0]?.position
    expect(await stored()).toMatchObject({ position: end, lastSuccess: now })
  })

  test('A new or enabled webhook reports no change from before its own entry (V-4, V-5)', async () => {
    const seal = async (_: unknown, secret: string) => {
      await change(`${randomBytes(8).toString('hex')}.html`)
      return secret
    }
    const wanted = { targetUrl: 'https://hooks.example/in' }
    const { webhook } = (await createWebhook({ webhooks, seals: { seal } }, site, wanted, { actor: 'ann' })) ?? {}
    const id = webhook?.id ?? expect.fail('The site has too many webhooks')
    await deliver(id)
    expect(types()).toEqual(['site-admin.webhook.created'])
    await put(await stored(id), { enabled: false })
    await applyChange(
      { webhooks, seals: { seal } },
      await stored(id),
      { enabled: true, rotate: true },
      { author: { actor: 'ann' }, now },
    )
    await deliver(id)
    expect(types()).toEqual(['site-admin.webhook.changed'])
  })

  test('A failed delivery is repeated, and delays no later entries (V-10)', async () => {
    await create()
    answer = ({ body }) => (JSON.parse(body).subject === 'bad.html' ? failure : ok)
    for (const subject of ['1.html', 'bad.html', '2.html']) await change(subject)
    let due = await deliver()
    expect(subjects()).toEqual(['1.html', 'bad.html', '2.html'])
    for (const seconds of [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]) {
      const delay = 1_000 * seconds
      expect(due).toBeGreaterThanOrEqual(now + 0.8 * delay)
      expect(due).toBeLessThanOrEqual(now + 1.2 * delay)
      now = (due ?? 0) - 1
      expect(await deliver()).toBe(due)
      expect(subjects()).toEqual([])
      await change(`${delay}.html`)
      now += 1
      due = await deliver()
      expect(subjects().toSorted()).toEqual([`${delay}.html`, 'bad.html'])
    }
    expect(due).toBeUndefined()
    expect((await deliveries.recent(site, 'whk_one')).map(({ attempt }) => attempt)).toContain(10)
    now += 10 * day
    expect(await deliver()).toBeUndefined()
    expect(subjects()).toEqual([])
    expect((await stored()).enabled).toBe(true)
  })

  test('A failed delivery that later succeeds is not sent again (V-10)', async () => {
    await create()
    answer = () => ({ status: 500 })
    await change('a.html')
    now = (await deliver()) ?? 0
    answer = () => ok
    expect(await deliver()).toBeUndefined()
    expect(subjects()).toEqual(['a.html', 'a.html'])
    expect((await stored()).retries).toEqual([])
    const [last, first] = await deliveries.recent(site, 'whk_one')
    expect(first).toMatchObject({ attempt: 1, status: 500 })
    expect(last).toMatchObject({ attempt: 2, status: 204, type: 'workflow.created' })
    expect(last && first && last.id > first.id).toBe(true)
    expect(await stored()).not.toHaveProperty('failingSince')
  })

  test('After 500 failures, changes wait until the target works (V-10, V-13)', async () => {
    const retries = Array.from({ length: mostRetries }, (_, position) => ({ position, attempt: 9, due: now + day }))
    await create({ retries })
    answer = () => failure
    await change('a.html')
    await change('b.html')
    for (const sends of [1, 0, 1, 0]) {
      if (sends > 0) now += 5 * minute
      expect(await deliver()).toBe(now + 5 * minute)
      expect(subjects()).toEqual(Array(sends).fill('a.html'))
    }
    expect((await stored()).retries).toHaveLength(mostRetries)
    answer = () => ok
    const [failed] = await deliveries.recent(site, 'whk_one')
    await repeatDelivery(deps, await stored(), failed?.id ?? '')
    now += 5 * minute
    expect(await deliver()).toBe(retries[0]?.due)
    expect(subjects()).toEqual(['a.html', 'b.html'])
  })

  test('After 500 failed deliveries, failing retries do not delay the next change (V-10)', async () => {
    await create()
    await change('old.html')
    answer = () => failure
    await deliver()
    const [retry] = (await stored()).retries
    const others = Array.from({ length: mostRetries - 1 }, (_, position) => ({ position, attempt: 9, due: now + day }))
    await changeWebhook({ retries: [...(await stored()).retries, ...others] })
    await change('next.html')
    const due = await deliver()
    expect(due).toBe(retry?.due)
    expect(subjects()).toEqual(['old.html', 'next.html'])
    const resumes = now + 5 * minute
    now = due ?? 0
    await deliver()
    answer = ({ body }) => (JSON.parse(body).subject === 'next.html' ? ok : failure)
    now = resumes
    await deliver()
    expect(new Set(subjects())).toEqual(new Set(['old.html', 'next.html']))
  })

  test('A retry is sent at once if the clock was set back after it was planned (V-10)', async () => {
    await create()
    now += day
    answer = () => failure
    await change('a.html')
    await deliver()
    now -= day
    await change('b.html')
    const due = await deliver()
    expect(subjects()).toEqual(['a.html', 'a.html', 'b.html'])
    expect(due).toBeLessThanOrEqual(now + 6 * minute)
    expect((await stored()).retries).toHaveLength(2)
  })

  test('After the clock was set back, a failed change is sent in 5 minutes (V-10)', async () => {
    const full = () => Array.from({ length: mostRetries }, (_, position) => ({ position, attempt: 9, due: now + day }))
    await create()
    now += day
    for (let count = 0; count < keptDeliveries; count += 1) await change(`${count}.html`)
    await deliver()
    answer = () => failure
    await changeWebhook({ retries: full(), failingSince: now })
    await change('late.html')
    await deliver()
    now -= day
    await changeWebhook({ retries: full() })
    sent = []
    for (const sends of [1, 0, 1]) {
      if (sends > 0) now += 5 * minute
      // Without a pause, the delivery would never end.
      answer = () => (sent.length > sends ? ok : failure)
      expect(await deliver()).toBe(now + 5 * minute)
      expect(subjects()).toEqual(Array(sends).fill('late.html'))
    }
    const recent = await deliveries.recent(site, 'whk_one')
    expect(recent).toHaveLength(keptDeliveries)
    expect(recent.filter(({ at }) => at <= now)).toHaveLength(2)
  })

  test('A target that answers 410 gets no more deliveries (V-11)', async () => {
    await create()
    answer = () => ({ status: 410 })
    await change('a.html')
    await change('b.html')
    expect(await deliver()).toBeUndefined()
    expect(subjects()).toEqual(['a.html'])
    expect((await stored()).enabled).toBe(false)
    expect((await history.after(site, 0, 20)).at(-1)).toMatchObject({
      type: 'webhook.disabled',
      subject: 'webhook/whk_one',
      actor: 'system',
    })
  })

  test('A webhook is disabled if all deliveries to its target fail for 5 days (V-11)', async () => {
    await create()
    answer = () => failure
    await change('a.html')
    await deliver()
    now += 5 * day - 1
    answer = ({ body }) => (JSON.parse(body).subject === 'b.html' ? ok : failure)
    await change('b.html')
    await change('c.html')
    await deliver()
    expect((await stored()).enabled).toBe(true)
    now += 5 * day
    answer = () => failure
    await change('d.html')
    await deliver()
    expect((await stored()).enabled).toBe(false)
  })

  test('A webhook that was changed while its target failed stays enabled (V-11)', async () => {
    await create()
    answer = async () => {
      await changeWebhook({ targetUrl: 'https://new.example/' })
      return { status: 410 }
    }
    await change('a.html')
    const due = await deliver()
    expect(await stored()).toMatchObject({ enabled: true, targetUrl: 'https://new.example/' })
    now = due ?? 0
    answer = () => ok
    await deliver()
    expect(sent.map(({ url }) => url)).toEqual(['https://hooks.example/in', 'https://new.example/'])
  })

  test('A webhook that is enabled during a delivery forgets failures (V-11)', async () => {
    await create()
    answer = () => failure
    await change('a.html')
    await deliver()
    now += 5 * day
    answer = async () => {
      for (const enabled of [false, true]) await put(await stored(), { enabled })
      return failure
    }
    await deliver()
    expect((await stored()).enabled).toBe(true)
  })

  test('A webhook that is removed or disabled during a delivery gets no more deliveries', async () => {
    await create()
    await create({ id: 'whk_two' })
    answer = async () => {
      await webhooks.remove(site, 'whk_one', entryOf('webhook.removed', 'webhook/whk_one'))
      await changeWebhook({ enabled: false }, 'whk_two')
      return ok
    }
    await change('a.html')
    await change('b.html')
    await deliver()
    await deliver('whk_two')
    expect(subjects()).toEqual(['a.html'])
    expect(await webhooks.get(site, 'whk_one')).toBeUndefined()
  })

  test('An attempt that fails late brings back no ended retry (V-5, V-13)', async () => {
    const webhook = await create()
    await create({ id: 'whk_two' })
    await change('a.html')
    answer = () => failure
    await deliver()
    const [failed] = await deliveries.recent(site, 'whk_one')
    now += 6_000
    answer = async () => {
      answer = () => ok
      await repeatDelivery(deps, webhook, failed?.id ?? '')
      return failure
    }
    await deliver()
    expect((await stored()).retries).toEqual([])
    answer = async () => {
      await put(await stored('whk_two'), { enabled: false })
      await put(await stored('whk_two'), { enabled: true })
      return failure
    }
    await deliver('whk_two')
    expect((await stored('whk_two')).retries).toEqual([])
  })

  test('A delivery whose outcome is unknown is sent again (V-9)', async () => {
    await create()
    answer = () => Promise.reject(new Error('stopped'))
    await change('a.html')
    await expect(deliver()).rejects.toThrow('stopped')
    answer = () => ok
    await deliver()
    expect(subjects()).toEqual(['a.html', 'a.html'])
  })

  test('A retry is dropped if the webhook no longer reports the entry (V-2)', async () => {
    await create()
    answer = () => failure
    await change('a.html')
    now = (await deliver()) ?? 0
    await changeWebhook({ types: ['link.added'] })
    expect(await deliver()).toBeUndefined()
    expect(subjects()).toEqual(['a.html'])
  })

  test('Without enough time for an answer, nothing is sent', async () => {
    await create()
    await change('a.html')
    const tooShort = unlimited.within(14_999, () => 0)
    expect(await deliver('whk_one', tooShort)).toBe(now)
    expect(subjects()).toEqual([])
  })

  test.each([
    [199, true],
    [200, false],
    [299, false],
    [300, true],
  ])('After an answer with the status %i, a repetition is due: %s (V-10)', async (status, isDue) => {
    await create()
    answer = () => ({ status })
    await change('a.html')
    expect((await deliver()) !== undefined).toBe(isDue)
  })

  test('A listed delivery can be repeated, and a success ends its retries (V-13)', async () => {
    const webhook = await create()
    answer = () => failure
    await change('a.html')
    await deliver()
    answer = () => ok
    const [failed] = await deliveries.recent(site, 'whk_one')
    expect(await repeatDelivery(deps, webhook, failed?.id ?? '')).toMatchObject({ attempt: 2, status: 204 })
    expect(subjects()).toEqual(['a.html', 'a.html'])
    expect((await stored()).retries).toEqual([])
    expect(await deliveries.recent(site, 'whk_one')).toHaveLength(2)
    for (const id of ['', 'dlv_1', `${failed?.id}0`])
      await expect(repeatDelivery(deps, webhook, id)).rejects.toThrow('delivery')
    const narrow = { ...webhook, types: ['link.added'] }
    await expect(repeatDelivery(deps, narrow, failed?.id ?? '')).rejects.toThrow()
    expect(subjects()).toEqual([])
  })
})
