import { afterAll, expect, test } from 'vitest'
import { issueGrant } from '../../../lib/access/grants.ts'
import { roles } from '../../../lib/access/people.ts'
import { type SiteId, storedId } from '../../../lib/core/ids.ts'
import { textOfRight } from '../../../lib/core/rights.ts'
import { send } from '../../support/gateway.ts'
import { openHandler } from '../../support/handlers.ts'
import { oneMachine } from '../../support/hands.ts'
import { entry } from '../../support/history.ts'

const site = storedId<SiteId>(1001)
const { stores, close } = await oneMachine.open()
afterAll(() => close())
await stores.sites.putDataCentre({ id: 'us', url: 'https://us.example.com', isDefault: true })
await stores.sites.createSite({ id: site, name: 'Shop', dataCentre: 'us', renderingEngine: true }, entry)
const permissions = roles.owner.rights.map(textOfRight)
const { token } = await issueGrant(stores.grants, { user: 'boss', sites: [site], permissions, expires: 4_000_000_000 })
const handler = openHandler.access({ dataCentre: 'us' }, stores, { telemetry: { request: () => {} } })
const ask = async (method: string, path: string, body: object) => {
  const headers = { Authorization: token }
  expect((await send(handler, method, `/api/v2/admin/sites/1001/users${path}`, { headers, body })).status).toBeLessThan(
    300,
  )
}

test('Rights of people are stored in NFC, without extra slashes (A-33, A-110)', async () => {
  const stored = async () => (await stores.people.get('ann'))?.sites[site]
  await ask('POST', '', {
    name: 'ann',
    rights: [`files:read:/${'e\u0301'.repeat(127)}x//a/`, 'files:write:/', 'forms:read'],
  })
  expect(await stored()).toEqual({ rights: [`files:read:/${'\u00e9'.repeat(127)}x/a`, 'files:write', 'forms:read'] })
  await ask('PUT', '/ann', { role: 'author', folders: ['//Zoe\u0308//a/', '/'] })
  expect(await stored()).toEqual({ role: 'author', folders: ['/Zo\u00eb/a', '/'] })
})
