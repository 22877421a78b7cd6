import { HTTP } from 'cloudevents'
import { describe, expect, test } from 'vitest'
import { target } from '../setup/target.ts'
import { admin, describeWithAdmin, outcomeOf } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { openReceiver, openWebhooks, signaturesOf } from '../support/webhooks.ts'

/** A webhook whose target is on this machine. */
const openTarget = async (more: object = {}, statuses: readonly number[] = [], mayAnswer?: Promise<void>) => {
  const webhooks = await openWebhooks()
  const receiver = await openReceiver(statuses, mayAnswer)
  const { id, secret } = await webhooks.create({ types: ['file.*'], enabled: true, ...more }, receiver.url)
  const deliveries = async () => (await webhooks.ask('GET', `/${id}/deliveries`)).json.items
  return { ...webhooks, ...receiver, id, secret, deliveries }
}

const describeWithTargets = target.permitsPrivateWebhooks ? describeWithAdmin : describe.skip

describeWithTargets('Deliveries, tests and repetitions', () => {
  test('A delivery is a signed CloudEvent with the entry of the history (V-6, V-7)', async () => {
    const { put, received, secret, site, changes } = await openTarget()
    await put('news/a%20b.html')
    await expect.poll(() => received.length).toBe(1)
    const entry = (await changes()).find(({ type }: { type: string }) => type === 'file.stored')
    const [delivery] = received
    expect(delivery?.event).toEqual({
      specversion: '1.0',
      id: entry.id,
      source: `${target.baseUrl}/api/v2/admin/sites/${site}`,
      type: 'site-admin.file.stored',
      subject: 'news/a b.html',
      time: entry.at,
      datacontenttype: 'application/json',
      data: entry,
    })
    expect(delivery?.headers).toMatchObject({
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'user-agent': 'site-admin',
      'webhook-id': entry.id,
    })
    const { headers = {}, body } = delivery ?? {}
    expect(HTTP.toEvent({ headers, body })).toMatchObject({ id: entry.id, subject: 'news/a b.html' })
    expect(signaturesOf(delivery, secret, `whsec_${'A'.repeat(32)}`)).toEqual([true, false])
  })

  test('A test is sent at once, also while the webhook is disabled (V-12)', async () => {
    const { ask, id, received, secret, deliveries, site } = await openTarget({ enabled: false })
    const { status, json } = await ask('POST', `/${id}/test`)
    expect({ status, json }).toEqual({
      status: 200,
      json: {
        id: expect.stringMatching(/^test-/),
        time: expect.any(String),
        type: 'webhook.test',
        status: 200,
        milliseconds: expect.any(Number),
        attempt: 1,
      },
    })
    expect(received).toHaveLength(1)
    expect(received[0]?.event).toMatchObject({
      id: json.id,
      type: 'site-admin.webhook.test',
      source: `${target.baseUrl}/api/v2/admin/sites/${site}`,
      data: { id: json.id, subject: `webhook/${id}`, actor: 'system', requestId: null, details: null },
    })
    expect(signaturesOf(received[0], secret)).toEqual([true])
    expect(await deliveries()).toEqual([])
    expect((await ask('GET', `/${id}`)).json).toMatchObject({ lastSuccess: null, failingSince: null })
  })

  test('A test reports the status of a target, or why it has none (V-8, V-12)', async () => {
    const statuses = [403, 307, 500]
    const { ask, id, received } = await openTarget({ enabled: false }, statuses)
    for (const status of statuses) expect((await ask('POST', `/${id}/test`)).json).toMatchObject({ status })
    expect(received).toHaveLength(3)
    await ask('PUT', `/${id}`, { targetUrl: 'http://127.0.0.1:1/' })
    const { status, json } = await ask('POST', `/${id}/test`)
    expect([status, json]).toMatchObject([200, { status: null, fault: expect.stringMatching(/refused/) }])
  })

  test('A repeated delivery sends the same event, and is listed (V-13)', async () => {
    const { put, deliveries, ask, id, received } = await openTarget({}, [500])
    await put('1')
    await expect.poll(deliveries).toHaveLength(1)
    const [{ id: failed }] = await deliveries()
    const { json } = await ask('POST', `/${id}/deliveries/${failed}/repeat`)
    expect(json).toMatchObject({ type: 'file.stored', status: 200, attempt: 2 })
    expect(await deliveries()).toMatchObject([json, { id: failed, status: 500, attempt: 1 }])
    expect(received[1]?.body).toBe(received[0]?.body)
    expectError(await ask('POST', `/${id}/deliveries/dlv_1/repeat`), 404, 230001)
    expect(JSON.stringify(await deliveries())).not.toContain('secret answer')
  })

  test('The fifth concurrent test is refused with 429 (V-13)', async () => {
    const { promise: mayAnswer, resolve: release } = Promise.withResolvers<void>()
    const { ask, id, received } = await openTarget({ enabled: false }, [], mayAnswer)
    const four = Array.from({ length: 4 }, () => ask('POST', `/${id}/test`))
    await expect.poll(() => received.length).toBe(4)
    const fifth = await ask('POST', `/${id}/test`)
    release()
    expectError(fifth, 429, 100429)
    expect(fifth.headers['retry-after']).toBe('5')
    for (const { json } of await Promise.all(four)) expect(json.status).toBe(200)
  })

  // Only on one machine, a command may send to a private target.
  test('site-admin webhook sends a test, and repeats a delivery (V-14, V-31)', async () => {
    const { put, deliveries, id, site, received } = await openTarget()
    const ofHook = [id, '--site', String(site)]
    expect(await outcomeOf('webhook', 'test', ...ofHook)).toMatchObject({ type: 'webhook.test', status: null })
    await put('1')
    await expect.poll(deliveries).toHaveLength(1)
    const [{ id: first }] = await deliveries()
    const repeated = await outcomeOf('webhook', 'repeat', id, first, ...ofHook.slice(1))
    expect(repeated).toMatchObject({ status: null, attempt: 2 })
    expect(await admin('webhook', 'deliveries', ...ofHook)).toEqual(await deliveries())
    expect(received).toHaveLength(1)
  })
})
