import { afterAll, beforeEach, expect, it } from 'vitest'
import type { RequestRecord } from '../../../lib/http/request.ts'
import { openLinkSecret } from '../../../lib/machine/tables/access.ts'
import { createDownloads } from '../../../local/downloads.ts'
import { send } from '../../support/gateway.ts'
import { scratchTables } from '../../support/scratch-database.ts'
import { openStorage } from '../storage/service.ts'

const minutes = 60_000
let now = 1_700_000_000_000
const clock = { wall: () => now, monotonic: () => now }
const records: RequestRecord[] = []

const storage = await openStorage({ clock, closes: afterAll })
const telemetry = { request: (record: RequestRecord) => void records.push(record) }
const downloads = createDownloads(storage.deps.files, storage.linkSecret, { ...storage.deps.edge, telemetry })
beforeEach(async () => {
  await storage.put('/a b.html', '0123456789')
})

const linkTo = async (path = '/a%20b.html', query: Record<string, string> = {}) => {
  const { url, expires } = (await storage.get(path, { link: '', ...query })).json
  return { url: new URL(url), expires: Date.parse(expires) }
}

const get = (url: URL, headers: Record<string, string> = {}, method = 'GET') =>
  send(downloads, method, url.pathname, { query: Object.fromEntries(url.searchParams), headers })

const changed = (url: URL, name: string, value: string): URL => {
  const other = new URL(url)
  other.searchParams.set(name, value)
  return other
}

const refusal = { status: 404, text: expect.stringContaining('"code":104001,"message":"This link is wrong') }

it('the link works for five minutes, to the millisecond', async () => {
  const { url, expires } = await linkTo()
  expect(expires).toBe(now + 5 * minutes)
  now = expires - 1
  expect((await get(url)).status).toBe(200)
  now = expires
  expect(await get(url)).toMatchObject(refusal)
})

it('a changed link is refused with the same message, whichever part was changed', async () => {
  const { url, expires } = await linkTo()
  await storage.put('/other.html', 'secret')
  const elsewhere = new URL(String(url).replace('a%20b.html', 'other.html'))
  const otherSite = new URL(String(url).replace(`/${storage.site}/`, '/1002/'))
  const other = await linkTo('/other.html')
  const forged = [
    elsewhere,
    otherSite,
    new URL(String(url).replace('%20', '%')),
    changed(url, 'expires', String(expires + 1)),
    changed(url, 'expires', 'never'),
    changed(url, 'version', other.url.searchParams.get('version') ?? ''),
    changed(url, 'signature', ''),
    changed(url, 'signature', 'x'),
    changed(url, 'signature', other.url.searchParams.get('signature') ?? ''),
    new URL(url.pathname, url),
  ]
  const answers = await Promise.all(forged.map((one) => get(one)))
  expect(answers).toEqual(forged.map(() => expect.objectContaining(refusal)))
  const messages = answers.map(({ json }) => json.message)
  expect(new Set(messages).size).toBe(1)
})

it('the link allows only reads', async () => {
  const { url } = await linkTo()
  expect((await get(url, {}, 'PUT')).status).toBe(405)
  expect((await get(url, {}, 'DELETE')).status).toBe(405)
  expect((await get(url)).status).toBe(200)
})

it('no log contains the signature: logs show only the path of a request', async () => {
  const { url } = await linkTo()
  records.length = 0
  await get(url)
  expect(records).toHaveLength(1)
  expect(records[0]).toMatchObject({ operation: 'download', path: url.pathname, status: 200, token: null })
  for (const secret of url.searchParams.values()) expect(JSON.stringify(records)).not.toContain(secret)
})

it('the secret has 32 random bytes, never changes, and differs in each directory', async () => {
  const databases = [scratchTables(), scratchTables()]
  const made = await Promise.all(databases.map(openLinkSecret))
  expect(made.map((secret) => secret.length)).toEqual([32, 32])
  expect(Buffer.compare(made[0] ?? Buffer.alloc(0), made[1] ?? Buffer.alloc(0))).not.toBe(0)
  expect(await Promise.all(databases.map(openLinkSecret))).toEqual(made)
})
