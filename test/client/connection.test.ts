import { expect, test } from 'vitest'
import { connect, findSites, ServiceError } from '../../client/src/index.ts'
import { type Asked, address, json, scriptedFetch, sites } from './support/scripted-fetch.ts'

const patience = { delay: 1 }
const isSites = ({ url }: Asked) => url.endsWith('/api/v1/admin/sites')

/** A client of one site whose sites are told, and whose other requests are answered one after the other. */
const scripted = async (answers: readonly (() => Response | undefined)[], urls: readonly string[] = [address]) => {
  const waiting = [...answers]
  const { asked, fetch } = scriptedFetch((each) => (isSites(each) ? sites(...urls) : waiting.shift()?.()))
  const client = await connect({ url: address, token: 'secret', site: 1, patience, fetch })
  asked.length = 0
  return { client, asked }
}

const busy = (status: number) => () => json({ code: 100503, message: 'Busy.' }, status, { 'Retry-After': '0' })
const broken = () => undefined
const stored = () => json({ status: 'success' })

test('what is wrong with an address or a token is said before anything is sent', async () => {
  const { asked, fetch } = scriptedFetch(() => undefined)
  for (const url of ['', 'us.test', 'ftp://us.test', 'https://us.test/?a=b', 'https://ann:secret@us.test']) {
    await expect(connect({ url, token: 'secret', fetch })).rejects.toThrow('is no address of a service')
  }
  await expect(connect({ url: address, token: 'se\r\ncret', fetch })).rejects.toThrow(
    'has characters that no token has',
  )
  expect(asked).toStrictEqual([])
})

test('a service that cannot be reached is a ServiceError without a status', async () => {
  const { asked, fetch } = scriptedFetch(() => undefined)
  const failed = connect({ url: address, token: 'secret', patience: { attempts: 3, delay: 1 }, fetch })
  await expect(failed).rejects.toMatchObject({
    name: 'ServiceError',
    status: 0,
    code: 0,
    message: expect.stringContaining('us.test'),
  })
  expect(asked).toHaveLength(3)
})

test('an answer of something else than the service is told by its status', async () => {
  const { fetch } = scriptedFetch(() => new Response('<html>Bad gateway</html>', { status: 418 }))
  await expect(connect({ url: address, token: 'secret', fetch })).rejects.toMatchObject({
    status: 418,
    code: 418,
    message: expect.stringContaining('not as this service does'),
  })
})

test('one of several sites has to be chosen, and requests go to the data centre where it lives', async () => {
  const { asked, fetch } = scriptedFetch((each) =>
    isSites(each) ? sites(address, 'https://eu.test') : json({ type: 'folder' }),
  )
  await expect(connect({ url: address, token: 'secret', fetch })).rejects.toThrow('1 (Site 1), 2 (Site 2)')
  await expect(connect({ url: address, token: 'secret', site: 3, fetch })).rejects.toThrow('does not cover site 3')
  const client = await connect({ url: address, token: 'secret', site: 2, fetch })
  await client.files.stat('news')
  expect(asked.at(-1)).toMatchObject({
    url: 'https://eu.test/api/v2/admin/sites/2/storage/news?meta=&limit=1',
    token: 'secret',
  })
})

test('the sites of a token are asked for once, and a client of any of them speaks to its own data centre', async () => {
  const { asked, fetch } = scriptedFetch((each) =>
    isSites(each) ? sites(address, 'https://eu.test') : json({ type: 'folder' }),
  )
  const found = await findSites({ url: address, token: 'secret', fetch })
  expect(found.list.map(({ id }) => id)).toStrictEqual([1, 2])
  await found.choose(2).files.stat('')
  await found.choose(1).files.stat('')
  expect(asked.map(({ url }) => new URL(url).host)).toStrictEqual(['us.test', 'eu.test', 'us.test'])
  expect(() => found.choose()).toThrow('1 (Site 1), 2 (Site 2)')
})

test('a redirect is followed with the token to an address of the sites, and to no other', async () => {
  const to =
    (location: string, status = 301) =>
    () =>
      new Response(null, { status, headers: { Location: location } })
  const moved = await scripted([to('https://eu.test/x', 308), stored], [address, 'https://eu.test'])
  await moved.client.files.createFolder('a')
  expect(moved.asked.map(({ url, method, token }) => [method, url, token])).toStrictEqual([
    ['PUT', `${address}/api/v2/admin/sites/1/storage/a?type=folder`, 'secret'],
    ['PUT', 'https://eu.test/x', 'secret'],
  ])
  const evil = await scripted([to('https://evil.test/x'), stored])
  await expect(evil.client.files.createFolder('a')).rejects.toThrow('evil.test, which is no address')
  const prefix = await scripted([to('https://us.test.evil.test/x'), stored])
  await expect(prefix.client.files.createFolder('a')).rejects.toThrow('us.test.evil.test, which is no address')
  expect([...evil.asked, ...prefix.asked].map(({ url }) => new URL(url).host)).toStrictEqual(['us.test', 'us.test'])
  const circle = await scripted(Array.from({ length: 9 }, () => to(`${address}/x`)))
  await expect(circle.client.files.createFolder('a')).rejects.toThrow(ServiceError)
})

test('bytes that lie in a bucket are fetched from there without the token', async () => {
  const elsewhere = () =>
    new Response(null, { status: 302, headers: { Location: 'https://bucket.test/a?signature=1' } })
  const { client, asked } = await scripted([elsewhere, () => new Response('text')])
  expect(await (await client.files.read('a')).text()).toBe('text')
  expect(asked.map(({ token }) => token)).toStrictEqual(['secret', null])
})

test('a request that is refused for the moment is sent again, also one that creates something', async () => {
  const { client, asked } = await scripted([busy(429), busy(503), () => json({ id: -7, links: [] }, 201)])
  expect(await client.forms.add(1, { type: -7, mandatory: true })).toBe(-7)
  expect(asked.map(({ method }) => method)).toStrictEqual(['POST', 'POST', 'POST'])
})

test('a request that creates something is not sent again when nobody knows what became of it', async () => {
  for (const lost of [broken, busy(502), busy(504)]) {
    const { client, asked } = await scripted([lost, () => json({ id: -7, links: [] }, 201)])
    await expect(client.forms.add(1, { type: -7, mandatory: true })).rejects.toThrow(ServiceError)
    expect(asked).toHaveLength(1)
  }
})

test('a read, a link and a write under a condition are sent again when nobody knows what became of them', async () => {
  const read = await scripted([broken, busy(502), () => json({ type: 'folder' })])
  await read.client.files.stat('a')
  const link = await scripted([broken, () => new Response(null, { status: 201 })])
  await link.client.categories.news.link(1, [2])
  const write = await scripted([broken, stored])
  await write.client.files.put('a', 'text')
  expect([read, link, write].map(({ asked }) => asked.length)).toStrictEqual([3, 2, 2])
})

test('a write whose answer was lost is found to be made, and one that somebody else made is not taken for it', async () => {
  const outdated = () => json({ code: 100412, message: 'Changed.' }, 412)
  const made = await scripted([broken, outdated, () => new Response('text')])
  await made.client.files.put('a', 'text')
  const other = await scripted([broken, outdated, () => new Response('test')])
  await expect(other.client.files.put('a', 'text')).rejects.toMatchObject({ status: 412 })
  const never = await scripted([outdated, () => new Response('text')])
  await expect(never.client.files.put('a', 'text')).rejects.toMatchObject({ status: 412 })
  const gone = await scripted([broken, () => json({ code: 104001, message: 'Nothing.' }, 404)])
  await gone.client.files.remove('a', { etag: '"1"' })
})

test('what the service will not do for a long time is not waited for', async () => {
  const { client, asked } = await scripted([
    () => json({ code: 100429, message: 'Later.' }, 429, { 'Retry-After': '3600' }),
  ])
  await expect(client.files.stat('a')).rejects.toMatchObject({ status: 429 })
  expect(asked).toHaveLength(1)
})

test('a signal ends a call with its own reason', async () => {
  const reason = new Error('enough')
  const { client } = await scripted([busy(503), busy(503)])
  await expect(client.files.put('a', 'text', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
})
