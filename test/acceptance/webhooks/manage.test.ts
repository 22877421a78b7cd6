import { beforeAll, expect, test } from 'vitest'
import { admin, createSite, describeWithAdmin, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { openWebhooks } from '../support/webhooks.ts'

const defaults = { types: [], subject: '', enabled: true, description: '', lastSuccess: null, failingSince: null }
// Nothing listens at this address, so no case needs the network.
const targetUrl = 'https://127.0.0.1:1/hooks'

testWithAdmin('A webhook can be created, read, listed, changed and removed (V-1, V-2)', async () => {
  const { ask, site } = await openWebhooks()
  const { status, json } = await ask('POST', '', { targetUrl })
  const { secret, ...created } = json
  expect(status).toBe(201)
  expect(created).toEqual({ id: expect.stringMatching(/^whk_\w{16}$/), siteId: site, targetUrl, ...defaults })
  const change = { types: ['file.*', 'link.added'], subject: 'news/', enabled: false, description: 'News' }
  // The webhook may have reported its own creation.
  const changed = { ...created, ...change, failingSince: expect.toBeOneOf([null, expect.any(String)]) }
  expect(await ask('PUT', `/${created.id}`, change)).toMatchObject({ status: 200, json: changed })
  expect((await ask('GET', `/${created.id}`)).json).toEqual(changed)
  expect((await ask('GET')).json).toEqual({ items: [changed] })
  expect(await ask('DELETE', `/${created.id}`)).toMatchObject({ status: 200, text: '' })
  expect((await ask('GET')).json).toEqual({ items: [] })
})

testWithAdmin('The secret of a webhook is shown once, and never stored by caches (V-4, V-5)', async () => {
  const { ask } = await openWebhooks()
  const created = await ask('POST', '', { targetUrl })
  const rotated = await ask('PUT', `/${created.json.id}`, { rotate: true })
  for (const { headers, json } of [created, rotated]) {
    expect(headers['cache-control']).toBe('no-store')
    expect(json.secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/)
  }
  expect(rotated.json.secret).not.toBe(created.json.secret)
  const { text: one } = await ask('GET', `/${created.json.id}`)
  const { text: all } = await ask('GET')
  const { text: changed } = await ask('PUT', `/${created.json.id}`, { description: 'x' })
  expect([one, all, changed].filter((text) => text.includes('secret') || text.includes('whsec_'))).toEqual([])
})

testWithAdmin('PUT keeps the members of a webhook that are not sent, and ignores others (V-5)', async () => {
  const { ask, create } = await openWebhooks()
  const { secret, ...created } = await create({ types: ['file.*'], subject: 'a', description: 'd' })
  const { json } = await ask('PUT', `/${created.id}`, { subject: 'b', colour: 'red' })
  expect(json).toEqual({ ...created, subject: 'b' })
})

testWithAdmin('The service stores the subject of a webhook in NFC (V-34)', async () => {
  const { ask, create } = await openWebhooks()
  const { id } = await create({ subject: 'Zoe\u0308' })
  expect((await ask('GET', `/${id}`)).json.subject).toBe('Zo\u00eb')
  expect((await ask('PUT', `/${id}`, { subject: 'e\u0301/' })).json.subject).toBe('\u00e9/')
})

describeWithAdmin('The members of a webhook', () => {
  let own: Awaited<ReturnType<typeof openWebhooks>>
  beforeAll(async () => {
    own = await openWebhooks()
  })

  test.each<[string, unknown]>([
    ['no target', {}],
    ['a target that is not an address', { targetUrl: 'example.com' }],
    ['a target of another scheme', { targetUrl: 'ftp://example.com/' }],
    ['a target over http', { targetUrl: 'http://example.com/' }],
    ['a target with a user', { targetUrl: 'https://ann@example.com/' }],
    ['a target with a password', { targetUrl: 'https://:secret@example.com/' }],
    ['a target with a fragment', { targetUrl: 'https://example.com/#a' }],
    ['a target with a line break', { targetUrl: 'https://example.com/\na' }],
    ['a target with half a character', { targetUrl: 'https://example.com/\ud83d' }],
    ['a target of 2,001 characters', { targetUrl: `https://example.com/${'x'.repeat(1_981)}` }],
    ['an unknown type', { targetUrl, types: ['file.painted'] }],
    ['an unknown kind of types', { targetUrl, types: ['paint.*'] }],
    ['types that are not a list', { targetUrl, types: 'file.*' }],
    ['51 types', { targetUrl, types: Array.from({ length: 51 }, () => 'file.*') }],
    ['a subject of 1,025 characters', { targetUrl, subject: 'x'.repeat(1_025) }],
    ['a description of two lines', { targetUrl, description: 'a\nb' }],
    ['a description of 201 characters', { targetUrl, description: 'x'.repeat(201) }],
    ['an enabled that is a text', { targetUrl, enabled: 'yes' }],
    ['a list as its body', []],
  ])('A webhook with %s is refused with 400/230000 (V-2, V-3, E-62)', async (_, body) => {
    expectError(await own.ask('POST', '', body), 400, 230000)
    expect((await own.ask('GET')).json.items).toEqual([])
  })

  test.each<[string, unknown]>([
    ['without members', {}],
    ['that rotates nothing', { rotate: false }],
    ['to a target over http', { targetUrl: 'http://example.com/' }],
    ['to no types', { types: null }],
  ])('A change %s is refused with 400/230000, and changes nothing (V-5, E-62)', async (_, body) => {
    const { secret, ...created } = await own.create()
    expectError(await own.ask('PUT', `/${created.id}`, body), 400, 230000)
    expect((await own.ask('GET')).json.items).toEqual([created])
    await own.ask('DELETE', `/${created.id}`)
  })

  test('A webhook with the longest allowed members is accepted (V-2)', async () => {
    const longest = {
      targetUrl: `https://example.com/${'x'.repeat(1_980)}`,
      types: Array.from({ length: 50 }, () => 'file.*'),
      subject: 'x'.repeat(1_024),
      description: 'ä'.repeat(200),
    }
    const { create } = await openWebhooks()
    expect(await create(longest, longest.targetUrl)).toMatchObject(longest)
  })
})

testWithAdmin('The 21st webhook of a site is refused with 409/230002 (V-2, E-64)', async () => {
  const { ask, create } = await openWebhooks()
  for (let count = 1; count <= 20; count++) expect(await create()).toHaveProperty('id')
  expectError(await ask('POST', '', { targetUrl }), 409, 230002)
  const ids = (await ask('GET')).json.items.map(({ id }: { id: string }) => id)
  expect([ids.length, ids]).toEqual([20, ids.toSorted()])
})

testWithAdmin('Unknown webhooks and webhooks of other sites answer 404/230001 (V-1, E-63)', async () => {
  const [own, other] = [await openWebhooks(), await openWebhooks()]
  const { id } = await other.create()
  for (const unknown of [id, 'whk_0000000000000000', 'x'.repeat(3_000)]) {
    expectError(await own.ask('GET', `/${unknown}`), 404, 230001)
    expectError(await own.ask('PUT', `/${unknown}`, { enabled: false }), 404, 230001)
    expectError(await own.ask('GET', `/${unknown}/deliveries`), 404, 230001)
    expectError(await own.ask('POST', `/${unknown}/test`), 404, 230001)
    expectError(await own.ask('POST', `/${unknown}/deliveries/dlv_1/repeat`), 404, 230001)
    expectError(await own.ask('DELETE', `/${unknown}`), 404, 230001)
  }
  expect((await other.ask('GET', `/${id}`)).json).toMatchObject({ id })
})

testWithAdmin('The history records each change of a webhook, but not its address (V-3, V-32)', async () => {
  const { ask, create, changes } = await openWebhooks()
  const { id } = await create({}, 'https://example.com/hooks?key=hidden')
  await ask('PUT', `/${id}`, { targetUrl: 'https://example.org/hooks/hidden', rotate: true })
  await ask('DELETE', `/${id}`)
  const entries = (await changes()).filter(({ type }: { type: string }) => type.startsWith('webhook.'))
  const subject = `webhook/${id}`
  expect(entries).toMatchObject([
    { type: 'webhook.created', subject, details: { host: 'example.com' } },
    { type: 'webhook.changed', subject, details: { host: 'example.org' } },
    { type: 'webhook.removed', subject, details: { host: 'example.org' } },
  ])
  expect(JSON.stringify(entries)).not.toMatch(/hidden|whsec_/)
})

testWithAdmin('The webhooks of a site are removed with the site (V-30)', async () => {
  // Without tokens, the removal need not wait for caches.
  const site = await createSite('Short')
  await admin('webhook', 'create', '--site', String(site), '--url', targetUrl)
  await admin('site', 'remove', String(site), '--yes')
  await createSite('Again', '--id', String(site))
  expect(await admin('webhook', 'list', '--site', String(site))).toEqual([])
})

const everyRead = ['history:read', 'files:read', 'forms:read', 'categories:read']

testWithAdmin.each<[string, readonly string[], readonly string[]]>([
  ['all types', everyRead, []],
  ['files', ['history:read', 'files:read'], ['file.*', 'folder.created']],
  ['forms', ['history:read', 'forms:read'], ['field.updated', 'form.*']],
  ['objects', ['history:read', 'categories:read'], ['link.added', 'object.*']],
  ['imports', ['history:read', 'forms:read', 'categories:read'], ['content.imported']],
  ['people and sites', ['history:read'], ['user.*', 'webhook.*', 'site.changed']],
])('A webhook for %s needs the rights to read these entries (V-1)', async (_, needed, types) => {
  const { ask, create, addPerson } = await openWebhooks()
  const { id } = await create({ types: [] })
  const tokenWith = async (rights: readonly string[]) =>
    (await addPerson({ rights: ['access:write', ...rights] })).token
  for (const lacking of needed) {
    const token = await tokenWith(needed.filter((right) => right !== lacking))
    for (const [method, path] of [
      ['POST', ''],
      ['PUT', `/${id}`],
    ] as const) {
      const answer = await ask(method, path, { targetUrl, types }, token)
      expectError(answer, 403, 100403)
      expect(answer.json.message).toContain(lacking)
    }
  }
  expect((await ask('POST', '', { targetUrl, types }, await tokenWith(needed))).status).toBe(201)
})

testWithAdmin('A right on a folder is not enough to add or redirect a webhook about files (V-1)', async () => {
  const { ask, create, addPerson } = await openWebhooks()
  const { id } = await create({ types: ['file.*'] })
  const { token } = await addPerson({ rights: ['access:write', 'history:read', 'files:write:/news'] })
  expectError(await ask('POST', '', { targetUrl, types: ['file.*'], subject: 'news/' }, token), 403, 100403)
  expectError(await ask('PUT', `/${id}`, { targetUrl: 'https://127.0.0.1:1/' }, token), 403, 100403)
  expect((await ask('GET', `/${id}`)).json.targetUrl).toBe('https://example.com/hooks')
})

testWithAdmin('site-admin webhook does the same as the API (V-2, V-31)', async () => {
  const { site, ask } = await openWebhooks()
  const ofSite = ['--site', String(site)]
  const options = ['--url', targetUrl, ...Array(51).fill('--type=file.*'), '--subject', 'news/', '--description=News']
  const { id, ...shown } = await admin('webhook', 'create', ...ofSite, ...options)
  expect(shown).toEqual({ secret: expect.stringMatching(/^whsec_/) })
  const webhook = { ...defaults, id, siteId: site, targetUrl, types: ['file.*'], subject: 'news/', description: 'News' }
  expect((await ask('GET', `/${id}`)).json).toEqual(webhook)
  expect(await admin('webhook', 'list', ...ofSite)).toEqual([webhook])
  expect(await admin('webhook', 'show', id, ...ofSite)).toEqual(webhook)
  const changed = await admin('webhook', 'change', id, ...ofSite, '--type', 'all', '--no-enable', '--rotate')
  expect(changed).toEqual({ ...webhook, types: [], enabled: false, secret: expect.stringMatching(/^whsec_/) })
  expect(await admin('webhook', 'deliveries', id, ...ofSite)).toEqual([])
  expect(await admin('webhook', 'remove', id, ...ofSite)).toEqual({ removed: true })
  expect((await ask('GET')).json.items).toEqual([])
})
