import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Handler, RequestRecord } from '../../../lib/http/request.ts'
import { openLinkSecret } from '../../../lib/machine/tables/link-secret.ts'
import { createDownloads } from '../../../local/downloads.ts'
import { requestOf, textOf } from '../../support/gateway.ts'
import { scratchTables } from '../../support/scratch-database.ts'
import { openStorage, type StorageUnderTest } from '../storage/service.ts'

const minutes = 60_000
let now = 1_700_000_000_000
const clock = { wall: () => now, monotonic: () => now }
const records: RequestRecord[] = []

let storage: StorageUnderTest
let downloads: Handler

beforeAll(async () => {
  storage = await openStorage({ clock })
  const telemetry = { request: (record: RequestRecord) => void records.push(record) }
  downloads = createDownloads(
    { files: storage.deps.files, secret: storage.linkSecret },
    { ...storage.deps.edge, telemetry },
  )
})
afterAll(() => storage.close())
beforeEach(async () => {
  await storage.call('PUT', '/a b.html', { body: '0123456789' })
})

const linkTo = async (path = '/a%20b.html', query: Record<string, string> = {}) => {
  const { body } = await storage.call('GET', path, { query: { link: '', ...query } })
  const { url, expires } = JSON.parse(body) as { url: string; expires: string }
  return { url: new URL(url), expires: Date.parse(expires) }
}

const get = async (url: URL, headers: Record<string, string> = {}, method = 'GET') => {
  const query = Object.fromEntries(url.searchParams)
  const answer = await downloads(requestOf(method, url.pathname, { query, headers }), () => Number.POSITIVE_INFINITY)
  return { status: answer.status, headers: answer.headers, body: await textOf(answer) }
}

const changed = (url: URL, name: string, value: string): URL => {
  const other = new URL(url)
  other.searchParams.set(name, value)
  return other
}

const refusal = { status: 404, body: expect.stringContaining('"code":104001,"message":"This link does not work') }

describe('a link of one machine', () => {
  it('gives the file as an attachment that runs nothing, with its validators', async () => {
    const { url } = await linkTo()
    const { status, headers, body } = await get(url)
    expect({ status, body }).toEqual({ status: 200, body: '0123456789' })
    expect(headers).toMatchObject({
      'Content-Type': 'application/octet-stream',
      'Content-Length': '10',
      'Content-Disposition': 'attachment; filename="a b.html"',
      'Content-Security-Policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      ETag: expect.stringMatching(/^".+"$/),
      'Last-Modified': expect.stringMatching(/GMT$/),
    })
  })

  it('answers HEAD, ranges and conditions as the file itself', async () => {
    const { url } = await linkTo()
    const head = await get(url, {}, 'HEAD')
    expect([head.status, head.headers['Content-Length'], head.body]).toEqual([200, '10', ''])
    const part = await get(url, { range: 'bytes=2-4' })
    expect([part.status, part.headers['Content-Range'], part.body]).toEqual([206, 'bytes 2-4/10', '234'])
    expect((await get(url, { range: 'bytes=10-' })).status).toBe(416)
    expect((await get(url, { 'if-none-match': head.headers['ETag'] ?? '' })).status).toBe(304)
    expect((await get(url, { range: 'bytes=2-4', 'if-range': '"other"' })).status).toBe(200)
  })

  it('works for five minutes, to the millisecond', async () => {
    const { url, expires } = await linkTo()
    expect(expires).toBe(now + 5 * minutes)
    now = expires - 1
    expect((await get(url)).status).toBe(200)
    now = expires
    expect(await get(url)).toMatchObject(refusal)
  })

  it('is refused, always in the same words, when anything of it is another', async () => {
    const { url, expires } = await linkTo()
    await storage.call('PUT', '/other.html', { body: 'secret' })
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
    const messages = answers.map(({ body }) => JSON.parse(body).message)
    expect(new Set(messages).size).toBe(1)
  })

  it('is refused when the file has been replaced, renamed or removed since', async () => {
    const replaced = await linkTo()
    await storage.call('PUT', '/a%20b.html', { body: 'newer' })
    expect(await get(replaced.url)).toMatchObject(refusal)
    const removed = await linkTo()
    expect((await get(removed.url)).body).toBe('newer')
    await storage.call('DELETE', '/a%20b.html')
    expect(await get(removed.url)).toMatchObject(refusal)
  })

  it('gives the draft that it was asked for', async () => {
    await storage.call('PUT', '/a%20b.html', { query: { version: 'draft' }, body: 'a draft' })
    expect((await get((await linkTo('/a%20b.html', { version: 'draft' })).url)).body).toBe('a draft')
    expect((await get((await linkTo()).url)).body).toBe('0123456789')
  })

  it('takes nothing but reads', async () => {
    const { url } = await linkTo()
    expect((await get(url, {}, 'PUT')).status).toBe(405)
    expect((await get(url, {}, 'DELETE')).status).toBe(405)
    expect((await get(url)).status).toBe(200)
  })

  it('is in no log: of a request there is the path alone', async () => {
    const { url } = await linkTo()
    records.length = 0
    await get(url)
    expect(records).toHaveLength(1)
    expect(records[0]).toMatchObject({ operation: 'download', path: url.pathname, status: 200, token: null })
    for (const secret of url.searchParams.values()) expect(JSON.stringify(records)).not.toContain(secret)
  })
})

describe('the secret of links', () => {
  it('has 32 random bytes, is kept, and is another in each directory', async () => {
    const databases = [scratchTables(), scratchTables()]
    const made = await Promise.all(databases.map(openLinkSecret))
    expect(made.map((secret) => secret.length)).toEqual([32, 32])
    expect(Buffer.compare(made[0] ?? Buffer.alloc(0), made[1] ?? Buffer.alloc(0))).not.toBe(0)
    expect(await Promise.all(databases.map(openLinkSecret))).toEqual(made)
  })
})
