import { expect, test } from 'vitest'
import { target } from '../setup/target.ts'
import { admin, findDataCentres, issueToken } from '../support/admin.ts'
import { call } from '../support/http.ts'

/** A site in a data centre other than the one under test, if there is one. */
const openElsewhere = async () => {
  const { there } = await findDataCentres()
  if (!there) return undefined
  const { id } = await admin('site', 'create', '--name', 'Elsewhere', '--data-centre', there.id)
  return { url: there.url, siteId: id, token: await issueToken([id]) }
}
let opened: ReturnType<typeof openElsewhere> | undefined

const testElsewhere = test
  .extend('elsewhere', async ({ skip }) => {
    opened ??= openElsewhere()
    return (await opened) ?? skip('there is only one data centre')
  })
  .skipIf(!target.admin)

testElsewhere('A read of a site elsewhere is redirected by 301 (A-23, A-24, A-25)', async ({ elsewhere }) => {
  const { url, siteId, token } = elsewhere
  const path = `/api/v1/admin/sites/${siteId}/webforms?a=1&b=%26%20x`
  const headers = { location: `${url}${path}`, 'cache-control': 'no-store' }
  expect(await call(path, { token })).toMatchObject({ status: 301, text: '', headers })
  // The base URL of the other data centre may have another prefix. So the document of this data centre does not show
  // where its paths begin.
  expect((await fetch(`${url}${path}`, { headers: { Authorization: token } })).status).toBe(200)
})

testElsewhere('A change of a site elsewhere is redirected by 308, with its method (A-26)', async ({ elsewhere }) => {
  const { url, token } = elsewhere
  const fields = '/api/v1/admin/sites/current/webforms/1/fields/system'
  const news = '/webresources/api/v3/sites/current/categories/5/news'
  for (const [method, path] of [
    ['POST', fields],
    ['PUT', `${fields}/-2`],
    ['DELETE', `${fields}/-2`],
    ['POST', news],
    ['DELETE', news],
  ] as const) {
    const answer = await call(path, { token, method, body: '{"order":1}' })
    expect(answer).toMatchObject({ status: 308, headers: { location: `${url}${path}` } })
  }
  for (const path of [fields, news]) expect((await call(path, { token, method: 'HEAD' })).status).toBe(301)
})

testElsewhere('Every request to an upload is redirected by 308 (U-10)', async ({ elsewhere }) => {
  const { url, siteId } = elsewhere
  const token = await issueToken([siteId], 'files')
  const path = `/api/v2/admin/sites/${siteId}/uploads/${'a'.repeat(32)}`
  for (const method of ['HEAD', 'PATCH', 'DELETE']) {
    const answer = await call(path, { token, method, headers: { 'Tus-Resumable': '1.0.0' } })
    expect(answer).toMatchObject({ status: 308, headers: { location: `${url}${path}` } })
  }
})

testElsewhere('The redirect comes before the checks of media types and permissions (A-1)', async ({ elsewhere }) => {
  const { siteId, token } = elsewhere
  const headers = { Accept: 'image/png', 'Content-Type': 'text/plain' }
  const fields = `/api/v1/admin/sites/${siteId}/webforms/1/fields/system`
  expect((await call(fields, { token, method: 'POST', headers, body: 'x' })).status).toBe(308)
  expect((await call(`/api/v2/admin/sites/${siteId}/storage/a`, { token })).status).toBe(301)
})

testElsewhere('A caller without a right to the site gets no redirect (A-1)', async ({ elsewhere }) => {
  const path = `/api/v1/admin/sites/${elsewhere.siteId}/webforms`
  expect((await call(path)).status).toBe(400)
  expect((await call(path, { token: null })).status).toBe(401)
})
