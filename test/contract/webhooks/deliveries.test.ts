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
  type SecretSeals,
  type Webhook,
} from '../../../lib/webhooks/webhooks.ts'
import { describeOn, entry, hands, type OpenedHand } from '../../support/hands.ts'
import { testWebhook } from '../../support/webhooks.ts'

const minute = 60_000
const day = 1_440 * minute
const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`
const ok: TargetAnswer = { status: 204 }
const failure: TargetAnswer = { fault: 'refused' }

let now = Date.now()
const clock = { wall: () => now, monotonic: () => now }
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
/** The subjects of the deliveries since the last call of this function or of `types`. */
const subjects = () => sent.splice(0).map(({ body }) => JSON.parse(body).subject)
const types = () => sent.splice(0).map(({ body }) => JSON.parse(body).type)
const entryOf = (type: ChangeType, subject: string) => ({ site, type, subject, actor: 'ann' })
const fullRetries = () =>
  Array.from({ length: mostRetries }, (_, position) => ({ position, attempt: 9, due: now + day }))

/** Each test has its own site with the webhook `whk_one`. */
const webhooksOn = ({ stores }: OpenedHand) => {
  const { webhooks, history, sites, workflows } = stores
  const deps = createDeliveryDeps({ ...stores, seals: unsealed }, { target, clock })
  const create = (details: Partial<Webhook> = {}) => {
    const webhook = testWebhook({ site, types: ['workflow.*'], secrets: [{ sealed: newSecret() }], ...details })
    return webhooks.create(webhook, entryOf('webhook.created', `webhook/${webhook.id}`))
  }
  const stored = async (id = 'whk_one') => (await webhooks.get(site, id)) ?? expect.fail('The webhook is missing')
  const change = (subject: string) =>
    workflows.start(site, toStoragePath(subject), entryOf('workflow.created', subject))
  const progress = () => deliverNext(deps, site, 'whk_one', unlimited)
  const deliver = async (id = 'whk_one', deadline = unlimited) => (await deliverNext(deps, site, id, deadline)).next

  beforeEach(async () => {
    site = (site + 1) as SiteId
    sent = []
    answer = () => ok
    now = Date.now()
    await sites.putDataCentre({ id: 'us', url: 'https://us.example', isDefault: true })
    await sites.createSite({ id: site, name: 'S', dataCentre: 'us', renderingEngine: false }, { ...entry, site })
    await create()
  })

  return {
    create,
    progress,
    stored,
    change,
    deliver,
    attempt: async (given: TargetAnswer, subject = 'a.html') => {
      answer = () => given
      await change(subject)
      return deliver()
    },
    store: (members: Partial<Webhook>, id = 'whk_one') =>
      webhooks.change(site, id, (present) => ({ ...present, ...members }), entryOf('webhook.changed', `webhook/${id}`)),
    put: async (
      given: Parameters<typeof applyChange>[2],
      id = 'whk_one',
      seals: Pick<SecretSeals, 'seal'> = unsealed,
    ) => applyChange({ webhooks, seals }, await stored(id), given, { author: { actor: 'ann' }, now }),
    repeat: async (delivery = '') => repeatDelivery(deps, await stored(), delivery),
    recent: () => webhooks.deliveries(site, 'whk_one'),
    lastEntry: async () => (await history.before(site, undefined, 1))[0] ?? expect.fail('The history is empty'),
  }
}

describeOn({ kinds: hands, subject: 'deliveries', clock }, (hand) => {
  const { create, stored, change, deliver, put, lastEntry, store } = webhooksOn(hand)
  const { webhooks } = hand.stores

  test('A rotated secret is used for another 24 hours, and at most 4 secrets sign (V-5)', async () => {
    const { secrets } = await stored()
    const signatures = async () => {
      await change(`${randomBytes(8).toString('hex')}.html`)
      await deliver()
      return sent.at(-1)?.headers['webhook-signature']?.split(' ').length
    }
    const { secret = '' } = (await put({ rotate: true })) ?? {}
    expect(await signatures()).toBe(2)
    const [{ headers = {}, body = '' } = {}] = sent
    for (const each of [secret, ...secrets.map(({ sealed }) => sealed)])
      expect(new Verifier(each).verify(body, headers)).toMatchObject({ specversion: '1.0' })
    now += day / 2
    await put({ rotate: true })
    expect(await signatures()).toBe(3)
    now += day / 2
    expect(await signatures()).toBe(2)
    for (let time = 0; time < 4; time++) await put({ rotate: true })
    expect(await signatures()).toBe(4)
  })

  test('Each entry that the webhook reports is sent once, in order (V-2, V-9, V-34)', async () => {
    await store({ subject: 'in/' })
    await change('in/early.html')
    await create({ id: 'whk_late', position: (await lastEntry()).position })
    const later = ['in/1.html', 'out/2.html', 'in/3.html', 'in4.html', 'in', 'in/5.html']
    for (const subject of later) await change(subject)
    await deliver()
    expect(subjects()).toEqual(['in/early.html', 'in/1.html', 'in/3.html', 'in', 'in/5.html'])
    await deliver()
    await deliver('whk_late')
    expect(subjects()).toEqual(later)
    expect(await stored()).toMatchObject({ position: (await lastEntry()).position, lastSuccess: now })
  })

  test('The stored subject of a webhook may have another form of Unicode (V-34)', async () => {
    await store({ subject: 'Zoe\u0308/' })
    for (const subject of ['Zo\u00eb/1.html', 'Zoe/2.html']) await change(subject)
    await deliver()
    expect(subjects()).toEqual(['Zo\u00eb/1.html'])
  })

  test('A new or enabled webhook reports no change from before its own entry (V-4, V-5)', async () => {
    const seals = {
      seal: async (_: unknown, secret: string) => {
        await change(`${randomBytes(8).toString('hex')}.html`)
        return secret
      },
    }
    const wanted = { targetUrl: 'https://hooks.example/in' }
    const { id } = await createWebhook({ webhooks, seals }, site, wanted, { actor: 'ann' })
    await deliver(id)
    expect(types()).toEqual(['site-admin.webhook.created'])
    await put({ enabled: false }, id)
    await put({ enabled: true, rotate: true }, id, seals)
    await deliver(id)
    expect(types()).toEqual(['site-admin.webhook.changed'])
  })

  test('A webhook that is removed or disabled during a delivery gets no more deliveries', async () => {
    await create({ id: 'whk_two' })
    answer = async () => {
      await webhooks.remove(site, 'whk_one', entryOf('webhook.removed', 'webhook/whk_one'))
      await store({ enabled: false }, 'whk_two')
      return ok
    }
    await change('a.html')
    await change('b.html')
    await deliver()
    await deliver('whk_two')
    expect(subjects()).toEqual(['a.html'])
    expect(await webhooks.get(site, 'whk_one')).toBeUndefined()
  })

  test('A delivery whose outcome is unknown is sent again (V-9)', async () => {
    answer = () => Promise.reject(new Error('stopped'))
    await change('a.html')
    await expect(deliver()).rejects.toThrow('stopped')
    answer = () => ok
    await deliver()
    expect(subjects()).toEqual(['a.html', 'a.html'])
  })

  test('Without enough time for an answer, nothing is sent', async () => {
    await change('a.html')
    const tooShort = unlimited.within(14_999, () => 0)
    expect(await deliver('whk_one', tooShort)).toBe(now)
    expect(subjects()).toEqual([])
  })
})

describeOn({ kinds: hands, subject: 'retries of deliveries', clock }, (hand) => {
  const { create, stored, change, deliver, attempt, put, repeat, recent, store } = webhooksOn(hand)

  test.each([
    [199, true],
    [200, false],
    [299, false],
    [300, true],
  ])('After an answer with the status %i, a repetition is due: %s (V-10)', async (status, isDue) => {
    expect((await attempt({ status })) !== undefined).toBe(isDue)
  })

  test('A failed delivery is repeated, and delays no later entries (V-10)', async () => {
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
    expect((await recent()).map(({ attempt }) => attempt)).toContain(10)
    now += 10 * day
    expect(await deliver()).toBeUndefined()
    expect(subjects()).toEqual([])
    expect((await stored()).enabled).toBe(true)
  })

  test('A failed delivery that later succeeds is not sent again (V-10)', async () => {
    now = (await attempt({ status: 500 })) ?? 0
    answer = () => ok
    expect(await deliver()).toBeUndefined()
    expect(subjects()).toEqual(['a.html', 'a.html'])
    expect((await stored()).retries).toEqual([])
    const [last, first] = await recent()
    expect(first).toMatchObject({ attempt: 1, status: 500 })
    expect(last).toMatchObject({ attempt: 2, status: 204, type: 'workflow.created' })
    expect(last && first && last.id > first.id).toBe(true)
    expect(await stored()).not.toHaveProperty('failingSince')
  })

  test('A retry is dropped if the webhook no longer reports the entry (V-2)', async () => {
    now = (await attempt(failure)) ?? 0
    await store({ types: ['link.added'] })
    expect(await deliver()).toBeUndefined()
    expect(subjects()).toEqual(['a.html'])
  })

  test('A listed delivery can be repeated, and a success ends its retries (V-13)', async () => {
    await attempt(failure)
    answer = () => ok
    const [failed] = await recent()
    expect(await repeat(failed?.id)).toMatchObject({ attempt: 2, status: 204 })
    expect(subjects()).toEqual(['a.html', 'a.html'])
    expect((await stored()).retries).toEqual([])
    expect(await recent()).toHaveLength(2)
    for (const id of ['', 'dlv_1', `${failed?.id}0`]) await expect(repeat(id)).rejects.toThrow('delivery')
    await store({ types: ['link.added'] })
    await expect(repeat(failed?.id)).rejects.toThrow()
    expect(subjects()).toEqual([])
  })

  test('An attempt that fails late brings back no ended retry (V-5, V-13)', async () => {
    await create({ id: 'whk_two' })
    await attempt(failure)
    const [failed] = await recent()
    now += 6_000
    answer = async () => {
      answer = () => ok
      await repeat(failed?.id)
      return failure
    }
    await deliver()
    expect((await stored()).retries).toEqual([])
    answer = async () => {
      for (const enabled of [false, true]) await put({ enabled }, 'whk_two')
      return failure
    }
    await deliver('whk_two')
    expect((await stored('whk_two')).retries).toEqual([])
  })
})

describeOn({ kinds: hands, subject: 'many or late retries', clock }, (hand) => {
  const { stored, change, deliver, progress, attempt, repeat, recent, store } = webhooksOn(hand)

  test('After 500 failures, changes wait until the target works (V-10, V-13)', async () => {
    const retries = fullRetries()
    await store({ retries })
    answer = () => failure
    await change('a.html')
    await change('b.html')
    const failingSince = now + 5 * minute
    for (const sends of [1, 0, 1, 0]) {
      if (sends > 0) now += 5 * minute
      expect(await progress()).toEqual({ next: now + 5 * minute, failingSince, isWaiting: true })
      expect(subjects()).toEqual(Array(sends).fill('a.html'))
    }
    expect((await stored()).retries).toHaveLength(mostRetries + 1)
    answer = () => ok
    const [failed] = await recent()
    await repeat(failed?.id)
    now += 5 * minute
    expect(await progress()).toEqual({ next: retries[0]?.due, failingSince: undefined, isWaiting: false })
    expect(subjects()).toEqual(['a.html', 'b.html'])
  })

  test('After 500 failed deliveries, failing retries do not delay the next change (V-10)', async () => {
    await attempt(failure, 'old.html')
    const [retry] = (await stored()).retries
    await store({ retries: [...(await stored()).retries, ...fullRetries().slice(1)] })
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
    await attempt(failure, 'last.html')
    answer = () => ok
    await repeat((await recent()).find(({ position }) => position === retry?.position)?.id)
    sent = []
    await deliver()
    expect(subjects()).toEqual(['last.html'])
  })

  test('A retry is sent at once if the clock was set back after it was planned (V-10)', async () => {
    now += day
    await attempt(failure)
    now -= day
    const due = await attempt(failure, 'b.html')
    expect(subjects()).toEqual(['a.html', 'a.html', 'b.html'])
    expect(due).toBeLessThanOrEqual(now + 6 * minute)
    expect((await stored()).retries).toHaveLength(2)
  })

  test('After the clock was set back, a failed change is sent in 5 minutes (V-10)', async () => {
    now += day
    for (let count = 0; count < keptDeliveries; count += 1) await change(`${count}.html`)
    await deliver()
    await store({ retries: fullRetries(), failingSince: now })
    await attempt(failure, 'late.html')
    now -= day
    const { retries } = await stored()
    await store({ retries: [...fullRetries(), ...retries.filter(({ attempt }) => attempt === 1)] })
    sent = []
    for (const sends of [1, 0, 1]) {
      if (sends > 0) now += 5 * minute
      // Without a pause, the delivery would never end.
      answer = () => (sent.length > sends ? ok : failure)
      expect(await deliver()).toBe(now + 5 * minute)
      expect(subjects()).toEqual(Array(sends).fill('late.html'))
    }
    expect(await recent()).toHaveLength(keptDeliveries)
    expect((await recent()).filter(({ at }) => at <= now)).toHaveLength(2)
  })
})

describeOn({ kinds: hands, subject: 'a webhook whose target fails', clock }, (hand) => {
  const { stored, change, deliver, attempt, put, lastEntry, store } = webhooksOn(hand)

  test('Enabling an enabled webhook changes neither its position nor its failures (V-5)', async () => {
    await attempt(failure)
    const before = await stored()
    await change('b.html')
    await put({ enabled: true })
    expect(await stored()).toEqual(before)
  })

  test('A target that answers 410 gets no more deliveries (V-11)', async () => {
    await change('a.html')
    expect(await attempt({ status: 410 }, 'b.html')).toBeUndefined()
    expect(subjects()).toEqual(['a.html'])
    expect((await stored()).enabled).toBe(false)
    const disabled = { type: 'webhook.disabled', subject: 'webhook/whk_one', actor: 'system' }
    expect(await lastEntry()).toMatchObject(disabled)
  })

  test('A webhook is disabled if all deliveries to its target fail for 5 days (V-11)', async () => {
    await attempt(failure)
    now += 5 * day - 1
    answer = ({ body }) => (JSON.parse(body).subject === 'b.html' ? ok : failure)
    await change('b.html')
    await change('c.html')
    await deliver()
    expect((await stored()).enabled).toBe(true)
    now += 5 * day
    await attempt(failure, 'd.html')
    expect((await stored()).enabled).toBe(false)
  })

  test('A new target has 5 days, too, before its webhook is disabled (V-5, V-11)', async () => {
    await attempt(failure)
    now += 5 * day
    await put({ targetUrl: 'https://new.example/' })
    await attempt(failure, 'b.html')
    expect(await stored()).toMatchObject({ enabled: true, failingSince: now })
  })

  test('After the clock was set back, a webhook is disabled in 5 days (V-11)', async () => {
    now += 30 * day
    await attempt(failure)
    now -= 30 * day
    await attempt(failure, 'b.html')
    now += 5 * day
    await attempt(failure, 'c.html')
    expect((await stored()).enabled).toBe(false)
  })

  test('A webhook that was changed while its target failed stays enabled (V-11)', async () => {
    answer = async () => {
      await store({ targetUrl: 'https://new.example/' })
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
    await attempt(failure)
    now += 5 * day
    answer = async () => {
      for (const enabled of [false, true]) await put({ enabled })
      return failure
    }
    await deliver()
    expect((await stored()).enabled).toBe(true)
  })
})
