import { expect, test } from 'vitest'
import type { ChangeType } from '../../../lib/core/history-entry.ts'
import { type Delivery, mostWebhooks, type Webhook } from '../../../lib/webhooks/webhooks.ts'
import { describeOn, handsOfPorts, ownSite as site, type TableStores } from '../../support/hands.ts'
import { testWebhook } from '../../support/webhooks.ts'

const secrets = [{ sealed: 'whsec_new' }, { sealed: 'whsec_old', until: 1_900_000_000_000 }]
const newWebhook = (details: Partial<Webhook> = {}) =>
  testWebhook({ site, types: ['file.*', 'link.added'], subject: 'a "b"/🍐', secrets, position: 7, ...details })
const entryOf = (type: ChangeType, id = 'whk_one') => ({ site, type, subject: `webhook/${id}`, actor: 'ann' })
const createIn = ({ webhooks }: TableStores, details: Partial<Webhook> = {}) =>
  webhooks.create(newWebhook(details), entryOf('webhook.created', details.id))

const deliveryOf = (number: number, details: Partial<Delivery> = {}): Delivery => ({
  id: String(number).padStart(8, '0'),
  position: number,
  type: 'file.stored',
  at: 1_800_000_000_000 + number,
  attempt: 1,
  status: 204,
  milliseconds: 12,
  ...details,
})

describeOn({ kinds: handsOfPorts, subject: 'webhooks' }, ({ stores }) => {
  const { webhooks, history } = stores
  const reported = async () => (await history.after(site, 0, 1_000)).map(({ type, subject }) => `${type} ${subject}`)

  test('A site has at most 20 webhooks, even if many are created at once', async () => {
    const made = await Promise.all(
      Array.from({ length: mostWebhooks + 5 }, (_, index) => createIn(stores, { id: `whk_${index}` })),
    )
    expect(made.filter(Boolean).length).toBeLessThanOrEqual(mostWebhooks)
    for (let index = 30; (await webhooks.listOfSite(site)).length < mostWebhooks; index += 1)
      expect(await createIn(stores, { id: `whk_${index}` })).toBe(true)
    expect(await createIn(stores, { id: 'whk_more' })).toBe(false)
    expect(await webhooks.get(site, 'whk_more')).toBeUndefined()
    expect(await reported()).not.toContain('webhook.created webhook/whk_more')
  })

  test('A change without effect writes no history entry', async () => {
    await createIn(stores)
    expect(await webhooks.change(site, 'whk_one', () => undefined, entryOf('webhook.changed'))).toBeUndefined()
    const disable = (present: Webhook) => ({ ...present, enabled: false })
    expect(await webhooks.change(site, 'whk_two', disable, entryOf('webhook.changed'))).toBeUndefined()
    expect(await webhooks.listOfSite(site)).toEqual([newWebhook()])
    expect(await reported()).toEqual(['webhook.created webhook/whk_one'])
  })

  test('Concurrent changes are all kept', async () => {
    await createIn(stores, { types: [] })
    const add = (type: string) => {
      const change = (present: Webhook) => ({ ...present, types: [...present.types, type] })
      return webhooks.change(site, 'whk_one', change, entryOf('webhook.changed'))
    }
    await Promise.all(['a', 'b', 'c', 'd'].map(add))
    const { types = [] } = (await webhooks.get(site, 'whk_one')) ?? {}
    expect(types.toSorted()).toEqual(['a', 'b', 'c', 'd'])
  })

  test('Removing a webhook also removes its deliveries and retries', async () => {
    await createIn(stores)
    const retry = { position: 8, attempt: 2, due: 9 }
    const outcome = { delivery: deliveryOf(8, { status: 500 }), position: 8, retry }
    await webhooks.recordOutcome(site, 'whk_one', outcome)
    expect(await webhooks.remove(site, 'whk_one', entryOf('webhook.removed'))).toBe(true)
    expect(await webhooks.remove(site, 'whk_one', entryOf('webhook.removed'))).toBe(false)
    expect(await webhooks.get(site, 'whk_one')).toBeUndefined()
    expect(await webhooks.deliveries(site, 'whk_one')).toEqual([])
    await webhooks.recordOutcome(site, 'whk_one', outcome)
    expect(await webhooks.deliveries(site, 'whk_one')).toEqual([])
    expect(await webhooks.get(site, 'whk_one')).toBeUndefined()
    expect(await reported()).toEqual(['webhook.created webhook/whk_one', 'webhook.removed webhook/whk_one'])
    await createIn(stores)
    expect(await webhooks.get(site, 'whk_one')).toEqual(newWebhook())
  })
})

describeOn({ kinds: handsOfPorts, subject: 'deliveries of webhooks' }, ({ stores, connect }) => {
  const { webhooks } = stores
  const fail = (number: number, due: number, attempt = 1) => {
    const { status: _, ...unanswered } = deliveryOf(number, { attempt, fault: 'refused' })
    const retry = { position: number, attempt: attempt + 1, due }
    return webhooks.recordOutcome(site, 'whk_one', { position: number, delivery: unanswered, retry })
  }

  test('Retries are in the order of their due times until an attempt ends them (V-10)', async () => {
    const retries = async () => (await connect().webhooks.get(site, 'whk_one'))?.retries
    await createIn(stores)
    await fail(8, 3_000)
    await fail(9, 1_000)
    await fail(10, 2_000)
    expect((await retries())?.[0]).toEqual({ position: 9, attempt: 2, due: 1_000 })
    await fail(9, 4_000, 2)
    expect((await retries())?.map(({ position, attempt }) => [position, attempt])).toEqual([
      [10, 2],
      [8, 2],
      [9, 3],
    ])
    await webhooks.recordOutcome(site, 'whk_one', { position: 10, delivery: deliveryOf(10) })
    expect((await retries())?.map(({ position }) => position)).toEqual([8, 9])
  })
})
