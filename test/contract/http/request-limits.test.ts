import { expect, test } from 'vitest'
import { beginning, openFieldsService, plainSite } from '../../support/fields-service.ts'
import { send } from '../../support/gateway.ts'

const service = await openFieldsService()
const path = await service.createForm()

/** An instance of a function, whose monotonic clock the test moves. */
const startWith = (limits: object) => {
  const clock = { monotonic: 0 }
  const { handler } = service.start({ wall: () => beginning, monotonic: () => clock.monotonic }, limits)
  const ask = (token: string, at = path) => send(handler, 'GET', at, { headers: { Authorization: token } })
  const statuses = async (count: number, token: string, at = path) => {
    const found: number[] = []
    for (let sent = 0; sent < count; sent++) found.push((await ask(token, at)).status)
    return found
  }
  return { clock, ask, statuses }
}

const accepted = (count: number) => Array.from({ length: count }, () => 200)

test('a token over its limit gets 100429 and a Retry-After (O-22, E-14)', async () => {
  const { clock, ask, statuses } = startWith({ requestsPerToken: 2 })
  const token = await service.issueToken()
  expect(await statuses(10, token)).toEqual(accepted(10))
  const refused = await ask(token)
  expect([refused.status, refused.json.code, refused.headers['retry-after']]).toEqual([429, 100429, '1'])
  clock.monotonic += 999
  expect(await statuses(3, token)).toEqual([200, 429, 429])
  clock.monotonic += 60_000
  expect(await statuses(11, token)).toEqual([...accepted(10), 429])
})

test('while one token is over its limit, other tokens of the site are accepted (O-22)', async () => {
  const { statuses } = startWith({ requestsPerToken: 1 })
  expect(await statuses(6, await service.issueToken())).toContain(429)
  expect(await statuses(1, await service.issueToken())).toEqual([200])
})

test('a site over its limit answers 100429 to any token, others work (O-22)', async () => {
  const { statuses } = startWith({ requestsPerSite: 1 })
  for (let tokens = 0; tokens < 5; tokens++) expect(await statuses(1, await service.issueToken())).toEqual([200])
  expect(await statuses(1, await service.issueToken())).toEqual([429])
  const elsewhere = await service.createForm([], plainSite)
  expect(await statuses(1, await service.issueToken({ sites: [plainSite] }), elsewhere)).toEqual([200])
})

test('requests with a wrong token do not count towards the limit (A-10, O-22)', async () => {
  const { statuses } = startWith({ requestsPerToken: 1, requestsPerSite: 1 })
  expect(new Set(await statuses(20, 'f'.repeat(64)))).toEqual(new Set([401]))
  expect(await statuses(1, await service.issueToken())).toEqual([200])
})

test('without settings, as on one machine, requests are not limited (O-22)', async () => {
  const { statuses } = startWith({})
  expect(new Set(await statuses(200, await service.issueToken()))).toEqual(new Set([200]))
})
