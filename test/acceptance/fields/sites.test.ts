import { expect, test } from 'vitest'
import { target } from '../setup/target.ts'
import { admin, createSite, findDataCentres, issueToken, testWithAdmin } from '../support/admin.ts'
import { ownSiteId } from '../support/forms.ts'
import { call } from '../support/http.ts'

const sites = '/api/v1/admin/sites'

test('The list of sites has the same wrapper as the list of fields (A-21, A-22)', async () => {
  const { status, json } = await call(sites)
  const { baseUrl } = target
  expect(status).toBe(200)
  expect(json).toEqual({
    links: [
      { rel: 'self', uri: `${baseUrl}${sites}` },
      { rel: 'previous', uri: null },
      { rel: 'next', uri: null },
    ],
    items: [
      {
        id: await ownSiteId(),
        name: expect.any(String),
        url: baseUrl,
        dataCentre: expect.any(String),
        renderingEngine: true,
        permissions: ['files'],
      },
    ],
    totalItemsCount: 1,
    itemsPerPageCount: 1000,
    currentPage: 1,
  })
})

testWithAdmin('The list has only the sites of the token, with permissions (A-21, A-22)', async () => {
  const other = await createSite('Other & more')
  const plain = await createSite('Plain', '--no-rendering-engine')
  await createSite('Foreign')
  const items = async (...permissions: readonly string[]) =>
    (await call(sites, { token: await issueToken([other, plain], ...permissions) })).json.items
  expect(await items()).toMatchObject([
    { id: other, name: 'Other & more', renderingEngine: true, permissions: [] },
    { id: plain, name: 'Plain', renderingEngine: false, permissions: [] },
  ])
  expect(await items('files')).toMatchObject([{ permissions: ['files'] }, { permissions: ['files'] }])
})

testWithAdmin('Every data centre lists all sites of the token, without a redirect (A-21)', async ({ skip }) => {
  const { here, there } = await findDataCentres()
  if (!there) return skip('there is only one data centre')
  const near = await createSite('Near')
  const { id: far } = await admin('site', 'create', '--name', 'Far', '--data-centre', there.id)
  const token = await issueToken([near, far])
  const expected = [
    { id: near, dataCentre: here.id, url: here.url },
    { id: far, dataCentre: there.id, url: there.url },
  ]
  for (const { url } of [here, there]) {
    const { status, json } = await call(sites, { token, baseUrl: url })
    expect(status).toBe(200)
    expect(json.items).toMatchObject(expected)
    expect(json.links[0]).toEqual({ rel: 'self', uri: `${url}${sites}` })
  }
})

test('The list of sites is also available in XML', async () => {
  const { headers, text } = await call(sites, { headers: { Accept: 'application/xml' } })
  expect(headers['content-type']).toMatch(/^application\/xml/)
  expect(text).toContain('<sites xmlns="http://ns.adobe.com/bc/api/v1"')
  expect(text).toMatch(new RegExp(`<items><site><id>${await ownSiteId()}</id><name>`))
  expect(text).toContain('<permissions><permission>files</permission></permissions>')
})
