import { expect, it } from 'vitest'
import { messages } from '../../support/messages.ts'
import { call, deployment } from '../support/deployment.ts'

const webhooks = `${deployment.baseUrl}/webresources/api/v3/sites/${deployment.site}/webhooks`

interface Answered {
  readonly id: string
  readonly failingSince: string | null
  readonly items: readonly { readonly id: string }[]
}

const ask = async (method: string, path = '', body?: object) => {
  const headers = { Authorization: deployment.token, 'Content-Type': 'application/json' }
  const answer = await fetch(`${webhooks}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  return { status: answer.status, json: (await answer.json()) as Answered }
}

it('a change is sent to a webhook, but a private target is refused (V-14, V-17)', async () => {
  const reported = { types: ['file.stored'], subject: 'reported.txt' }
  const created = await ask('POST', '', { targetUrl: 'https://127.0.0.1/hooks', ...reported })
  expect(created).toMatchObject({ status: 201, json: { secret: expect.stringMatching(/^whsec_/) } })
  const { id } = created.json
  const body = Buffer.from('news')
  const put = { method: 'PUT', body, headers: { 'Content-Type': 'text/plain' } }
  expect((await call('/reported.txt', put)).status).toBe(200)

  const deliveries = async () => (await ask('GET', `/${id}/deliveries`)).json.items
  const refused = { status: null, fault: messages.delivery.private, type: 'file.stored' }
  // The first attempt, and its first repetition after about 5 seconds.
  await expect.poll(deliveries, { timeout: 60_000 }).toMatchObject([
    { ...refused, attempt: 2 },
    { ...refused, attempt: 1 },
  ])
  expect((await ask('GET', `/${id}`)).json.failingSince).toMatch(/^20/)
  const first = (await deliveries())[1]?.id
  expect(await ask('POST', `/${id}/deliveries/${first}/repeat`)).toMatchObject({ status: 200, json: refused })
  expect(await ask('POST', `/${id}/test`)).toMatchObject({ status: 200, json: { fault: refused.fault } })
  expect((await ask('PUT', `/${id}`, { enabled: false })).json).toMatchObject({ enabled: false })
})
