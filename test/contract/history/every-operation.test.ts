import { expect, test } from 'vitest'
import { routes } from '../../../lib/contract/routes/routes.ts'
import type { RequestRecord } from '../../../lib/http/request.ts'
import type { Route } from '../../../lib/http/router.ts'
import { addOwner, exercises, fillDirectory, perform, site, storesOver } from '../../support/every-operation.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'

/** Operations without a history entry although they have the method of a change, with the reason. */
const changesNothing: Readonly<Record<string, string>> = {
  putRoot: 'the exercise is refused, and an upload by PUT is recorded like one by POST',
  deleteRoot: 'the root cannot be deleted',
  ...Object.fromEntries(
    ['signIn', 'signInV1', 'signOut', 'signOutV1', 'signOutOfSite', 'createSiteToken'].map((name) => [
      name,
      'sessions are in the log (A-75)',
    ]),
  ),
  acceptInvitation: 'a password is not a change of a site',
  changePassword: 'a password is not a change of a site',
  testWebhook: 'a test reports no change',
  repeatDelivery: 'the list of deliveries has it (V-13)',
  cancelUpload: 'an upload is not visible before it is complete',
}

// the end of a sign-in at an issuer may add the person, and browsers come back with GET.
const isReading = ({ method, operation }: Pick<Route, 'method' | 'operation'>) =>
  operation !== 'finishExternalSignIn' && (method === 'GET' || method === 'HEAD')

const tables = openMemoryTables()
const plain = tables.connect()
await fillDirectory(storesOver(plain))
const token = await addOwner(storesOver(plain))

test.each(exercises)('changes of $group write history entries, reads none', async ({ group, open, fill, requests }) => {
  await fill(plain)
  const records: RequestRecord[] = []
  const handler = await open(tables.connect(), { telemetry: { request: (record) => void records.push(record) } })
  for (const [index, request] of requests.entries()) {
    await perform(handler, token, request, `${group} ${index}`)
  }

  const changes = await storesOver(plain).history.after(site, 0, 10_000)
  const ofRequest = Map.groupBy(changes, ({ requestId }) => requestId)
  const reported = records.filter(({ requestId }) => ofRequest.has(requestId))
  const expected = routes.filter(
    (route) => route.group === group && !isReading(route) && !(route.operation in changesNothing),
  )
  expect(new Set(reported.map(({ operation }) => operation))).toEqual(
    new Set(expected.map(({ operation }) => operation)),
  )
  for (const { requestId } of reported)
    expect(ofRequest.get(requestId)).toMatchObject([{ actor: expect.stringMatching(/^(ann|eve@example\.com)$/) }])
})

test('only operations that change something are listed as without an entry', () => {
  const changing = routes.filter((route) => !isReading(route)).map(({ operation }) => operation)
  expect(changing).toEqual(expect.arrayContaining(Object.keys(changesNothing)))
})
