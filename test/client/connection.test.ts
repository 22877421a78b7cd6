import { expect, onTestFinished, test, vi } from 'vitest'
import { connect, findSites, ServiceError, type SiteClient } from '../../client/src/index.ts'
import type { Watch } from '../../client/src/source.ts'
import { messages } from '../support/messages.ts'
import { address, clientOver, json, scripted, scriptedFetch, silence, sites, zeros } from './support/scripted-fetch.ts'

const busy = (status: number) => () => json({ code: 100503, message: 'Busy.' }, status, { 'Retry-After': '0' })
const broken = () => undefined
const stored = () => json({ status: 'success' })

test('the library reports a faulty address or token before any request is sent', async () => {
  const { asked, fetch } = scriptedFetch(() => undefined)
  for (const url of ['', 'us.test', 'ftp://us.test', 'https://us.test/?a=b']) {
    await expect(connect({ url, token: 'secret', fetch })).rejects.toThrow(messages.client.noAddress(''))
  }
  for (const url of ['https://ann:secret@us.test', 'https://:secret@us.test', 'ftp://ann:secret@us.test']) {
    const refused = connect({ url, token: 'secret', fetch })
    await expect(refused).rejects.toThrow('Remove the name and the password from the address of the service.')
    await expect(refused).rejects.not.toThrow('secret')
  }
  await expect(connect({ url: address, token: 'se\r\ncret', fetch })).rejects.toThrow('has invalid characters')
  expect(asked).toStrictEqual([])
})

/** Until the end of the test, timers wait for the test. */
const stopTimers = (): void => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

const page = () => new Response('<!doctype html>', { headers: { 'Content-Type': 'text/html' } })

test('a server that answers everything with one page is not taken for the service', async () => {
  for (const answer of [page, () => json(null), () => json({}), () => json([]), () => json('a')]) {
    const { fetch } = scriptedFetch(answer)
    await expect(connect({ url: address, token: 'secret', fetch })).rejects.toThrow(messages.client.proxy)
    const calls: readonly ((client: SiteClient) => Promise<unknown>)[] = [
      ({ files }) => files.stat('a'),
      ({ files }) => files.list('a')[Symbol.asyncIterator]().next(),
      ({ files }) => files.versions('a')[Symbol.asyncIterator]().next(),
      ({ forms }) => forms.list()[Symbol.asyncIterator]().next(),
      ({ categories }) => categories.list()[Symbol.asyncIterator]().next(),
      ({ changes }) => changes.list()[Symbol.asyncIterator]().next(),
    ]
    for (const call of calls) {
      const { client } = await scripted([answer])
      await expect(call(client)).rejects.toThrow(ServiceError)
    }
  }
  const { client } = await scripted([page, page, page, page])
  await expect(client.files.read('a')).rejects.toMatchObject({ name: 'ServiceError', status: 200 })
  await expect(client.files.put('a', 'text')).rejects.toMatchObject({ name: 'ServiceError', status: 200 })
  await expect(client.files.remove('a', { etag: '"1"' })).rejects.toMatchObject({ name: 'ServiceError', status: 200 })
  await expect(client.categories.news.link(1, [2])).rejects.toMatchObject({ name: 'ServiceError', status: 200 })
})

test('if the address of a new upload is invalid, the call fails with status 201', async () => {
  const { client } = await scripted([() => new Response(null, { status: 201, headers: { Location: 'http://[' } })])
  const put = client.files.put('a', new Uint8Array(5_000_000))
  await expect(put).rejects.toMatchObject({ name: 'ServiceError', status: 201 })
})

test('if the token covers several sites, the caller must choose one (T-36)', async () => {
  const { asked, fetch } = scriptedFetch((each) =>
    each.url.endsWith('/sites') ? sites(address, 'https://eu.test') : json({ name: 'news', type: 'folder', links: [] }),
  )
  const notCovered = connect({ url: address, token: 'secret', site: 3, fetch })
  await expect(notCovered).rejects.toThrow(messages.client.siteNotCovered(3))
  const found = await findSites({ url: address, token: 'secret', fetch })
  expect(found.list.map(({ id }) => id)).toStrictEqual([1, 2])
  expect(() => found.choose()).toThrow('1 (Site 1), 2 (Site 2)')
  asked.length = 0
  await found.choose(2).files.stat('news')
  await found.choose(1).files.stat('')
  expect(asked.map(({ url, token }) => [url, token])).toStrictEqual([
    ['https://eu.test/api/v2/admin/sites/2/storage/news?meta=&limit=1', 'secret'],
    [`${address}/api/v2/admin/sites/1/storage?meta=&limit=1`, 'secret'],
  ])
})

test('after a redirect, the token is sent only to addresses of its sites (T-36)', async () => {
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
  await expect(evil.client.files.createFolder('a')).rejects.toThrow(messages.client.tokenNotValidThere('evil.test'))
  const prefix = await scripted([to('https://us.test.evil.test/x'), stored])
  const refused = prefix.client.files.createFolder('a')
  await expect(refused).rejects.toThrow(messages.client.tokenNotValidThere('us.test.evil.test'))
  expect([...evil.asked, ...prefix.asked].map(({ url }) => new URL(url).host)).toStrictEqual(['us.test', 'us.test'])
  const circle = await scripted(Array.from({ length: 9 }, () => to(`${address}/x`)))
  await expect(circle.client.files.createFolder('a')).rejects.toThrow(ServiceError)
})

const clear = 'http://us.test'
const refusal = { name: 'ServiceError', message: messages.client.unencrypted('https://us.test', 'http://us.test') }

test('if an https service lists an http address, no further request is sent (T-36)', async () => {
  const { asked, fetch } = scriptedFetch((each) => (each.url.endsWith('/sites') ? sites(clear) : stored()))
  await expect(connect({ url: address, token: 'secret', fetch })).rejects.toMatchObject(refusal)
  const { files } = (await findSites({ url: address, token: 'secret', fetch })).choose()
  await expect(files.createFolder('a')).rejects.toMatchObject(refusal)
  expect(asked.map(({ url }) => url)).toStrictEqual(Array(2).fill(`${address}/api/v1/admin/sites`))
})

const away: readonly (readonly [string, number, (client: SiteClient) => Promise<unknown>])[] = [
  ['a redirect of a write', 308, ({ files }) => files.createFolder('a')],
  ['a redirect of a read', 301, ({ files }) => files.stat('a')],
  ['a redirect to the bytes of a file', 302, ({ files }) => files.read('a')],
  ['a new upload', 201, ({ files }) => files.put('a', new Uint8Array(5_000_000))],
]
test.for(away)('%s from https to http is refused, even to a listed address (T-36)', async ([, status, call]) => {
  const headers = { Location: `${clear}/api/v2/admin/sites/1/uploads/x` }
  const { client, asked } = await scripted([() => new Response(null, { status, headers })], [address, clear])
  await expect(call(client)).rejects.toMatchObject(refusal)
  expect(asked).toHaveLength(1)
})

const site = '/api/v2/admin/sites/1'
test.for([
  `${clear}${site}/uploads/x`,
  'https://evil.test/x',
  `${address}${site}/storage/news`,
  `${address}${site}/uploads/../storage/news`,
  `${address}${site}/uploads/%2e%2e/storage/news`,
  `${address}${site}/uploads/x?y`,
  `${address}${site}/uploads/`,
])('no request goes to %s to cancel or resume an upload (T-36, T-43)', async (upload) => {
  const { client, asked } = await scripted([stored, stored], [address, clear])
  await expect(client.files.cancel(upload)).rejects.toThrow(messages.client.notAnUpload(upload))
  expect(asked).toStrictEqual([])
  for (const size of [5_000_000, 9_000_000])
    await expect(client.files.put('a', new Uint8Array(size), { resume: upload, replace: '"1"' })).rejects.toThrow()
  expect(asked.map(({ method }) => method)).toStrictEqual(['POST', 'POST'])
})

test('the bytes of a file are read from a bucket without the token', async () => {
  const elsewhere = () =>
    new Response(null, { status: 302, headers: { Location: 'https://bucket.test/a?signature=1' } })
  const { client, asked } = await scripted([elsewhere, () => new Response('text')])
  expect(await (await client.files.read('a')).text()).toBe('text')
  expect(asked.map(({ token }) => token)).toStrictEqual(['secret', null])
})

const ofBucket: readonly (readonly [string, (client: SiteClient) => Promise<unknown>])[] = [
  ['of a read', ({ files }) => files.read('a')],
  ['of a part', ({ files }) => files.put('a', new Uint8Array(9_000_000), { replace: '"1"' })],
]
test.for(ofBucket)('redirects %s are followed without the token, but not to http (T-36)', async ([, call]) => {
  const bucket = 'https://bucket.test'
  const addresses = [1, 2].map((number) => ({ number, url: `${bucket}/${number}`, headers: {} }))
  const state = { size: 9_000_000, complete: false, inParts: true, stored: [], addresses }
  const redirect = (status: number, url: string) => new Response(null, { status, headers: { Location: url } })
  const tokensAfter = async (answer: Response) => {
    const tokens: (string | null)[] = []
    const client = await clientOver(({ url, method, headers, redirect: mode }) => {
      if (!url.startsWith(address)) {
        if (url.startsWith(bucket) && mode === 'manual') return answer
        tokens.push(headers.get('Authorization'))
        return stored()
      }
      if (method === 'POST') return json(state, 201, { Location: `${site}/uploads/x` })
      return method === 'GET' ? redirect(302, `${bucket}/a`) : stored()
    })
    await call(client)
    return new Set(tokens)
  }
  expect(await tokensAfter(redirect(307, 'https://eu.test/a'))).toStrictEqual(new Set([null]))
  const inBrowser = Object.defineProperty(new Response(), 'type', { value: 'opaqueredirect' })
  expect(await tokensAfter(inBrowser)).toStrictEqual(new Set([null]))
  const message = messages.client.unencrypted(bucket, 'http://eu.test')
  await expect(tokensAfter(redirect(307, 'http://eu.test/a'))).rejects.toMatchObject({ name: 'ServiceError', message })
  await expect(tokensAfter(redirect(307, `${bucket}/a`))).rejects.toThrow('again and again, last to bucket.test')
})

test('a request that is refused with 429 or 503 is repeated, even a POST', async () => {
  const { client, asked } = await scripted([busy(429), busy(503), () => json({ id: -7, links: [] }, 201)])
  expect(await client.forms.add(1, { type: -7, mandatory: true })).toBe(-7)
  expect(asked.map(({ method }) => method)).toStrictEqual(['POST', 'POST', 'POST'])
})

test('a POST whose outcome is unknown is not repeated (T-35)', async () => {
  for (const lost of [broken, busy(502), busy(504)]) {
    const { client, asked } = await scripted([lost, () => json({ id: -7, links: [] }, 201)])
    await expect(client.forms.add(1, { type: -7, mandatory: true })).rejects.toThrow(ServiceError)
    expect(asked).toHaveLength(1)
  }
})

test('reads and conditional writes are repeated if the outcome is unknown', async () => {
  const read = await scripted([broken, busy(502), () => json({ name: 'news', type: 'folder', links: [] })])
  await read.client.files.stat('a')
  const link = await scripted([broken, () => new Response(null, { status: 201 })])
  await link.client.categories.news.link(1, [2])
  const write = await scripted([broken, stored])
  await write.client.files.put('a', 'text')
  expect([read, link, write].map(({ asked }) => asked.length)).toStrictEqual([3, 2, 2])
})

test('a repeated write succeeds if the file already has its bytes, otherwise not', async () => {
  const outdated = () => json({ code: 100412, message: 'Changed.' }, 412)
  const there = (size = 4) => json({ name: 'a', type: 'file', size, links: [] })
  const made = await scripted([broken, outdated, there, () => new Response('text')])
  await made.client.files.put('a', 'text')
  const other = await scripted([broken, outdated, there, () => new Response('test')])
  await expect(other.client.files.put('a', 'text')).rejects.toMatchObject({ status: 412 })
  const larger = await scripted([broken, outdated, () => there(1e9)])
  await expect(larger.client.files.put('a', 'text')).rejects.toMatchObject({ status: 412 })
  const never = await scripted([outdated, () => new Response('text')])
  await expect(never.client.files.put('a', 'text')).rejects.toMatchObject({ status: 412 })
  const earlier = await scripted([outdated, there, () => new Response('text')])
  await earlier.client.files.put('a', 'text', { mayBeStored: true })
  const gone = await scripted([broken, () => json({ code: 104001, message: 'Nothing.' }, 404)])
  await gone.client.files.remove('a', { etag: '"1"' })
  const links = [{ rel: 'storage', uri: `${address}/api/v2/admin/sites/1/storage/folder/a` }]
  const changed = await scripted([broken, outdated, () => json({ name: 'a', type: 'file', size: 4, links })])
  await expect(changed.client.files.remove('Folder/a', { etag: '"1"' })).rejects.toMatchObject({ status: 412 })
})

test('a refusal with a long Retry-After is reported without waiting', async () => {
  const { client, asked } = await scripted([
    () => json({ code: 100429, message: 'Later.' }, 429, { 'Retry-After': '3600' }),
  ])
  await expect(client.files.stat('a')).rejects.toMatchObject({ status: 429 })
  expect(asked).toHaveLength(1)
})

/** Aborts when a request waits for its answer. */
const stopIn = (stop: AbortController, reason: Error) => (request: Request) => {
  const answer = silence(request)
  stop.abort(reason)
  return answer
}

test('an aborted signal ends every call, even one that waits for an answer', async () => {
  const [reason, stop] = [new Error('enough'), new AbortController()]
  const client = await clientOver(stopIn(stop, reason), stop.signal)
  await expect(client.files.stat('a')).rejects.toBe(reason)
  await expect(client.files.move('a', 'b')).rejects.toBe(reason)
  await expect(client.forms.add(1, { type: -7, mandatory: true })).rejects.toBe(reason)
})

test.for([true, 'etag', false])('an aborted signal ends a put at once, with replace %s (T-33)', async (replace) => {
  const [reason, stop] = [new Error('enough'), new AbortController()]
  const { files } = await clientOver(stopIn(stop, reason))
  await expect(files.put('a', 'b', { replace, signal: stop.signal })).rejects.toBe(reason)
})

const begun = () => new Response(null, { status: 201, headers: { Location: '/api/v2/admin/sites/1/uploads/1' } })

test('a stalled upload is cut off after minutes, whatever its size, and then continues', async () => {
  stopTimers()
  const total = 500_000_000
  let come = 0
  let appends = 0
  const stalled = Promise.withResolvers<void>()
  const state = (status: number) =>
    new Response(null, { status, headers: { 'Upload-Offset': String(come), 'Upload-Length': String(total) } })
  const append = async (request: Request): Promise<Response> => {
    appends++
    const reader = request.body?.getReader()
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      if (appends === 1) {
        stalled.resolve()
        return silence(request)
      }
      come += read.value.length
    }
    return state(204)
  }
  const client = await clientOver((request) => {
    if (request.method === 'PATCH') return append(request)
    if (request.method === 'HEAD') return state(200)
    return request.url.endsWith('?parts') ? new Response(null, { status: 404 }) : begun()
  })
  const put = client.files.put('large.bin', zeros(total))
  await stalled.promise
  await vi.advanceTimersByTimeAsync(10 * 60_000)
  expect(appends).toBeGreaterThan(1)
  await put
  // The four appends: the whole file, which stalls; the safe size; twice the safe size; the rest.
  expect({ come, appends }).toStrictEqual({ come: total, appends: 4 })
})

/** A client whose first append of an upload is refused. */
const refusedAppend = async (refusal: () => Response) => {
  let appends = 0
  const asked = Promise.withResolvers<void>()
  const total = 5_000_000
  const state = (offset: number) =>
    new Response(null, { headers: { 'Upload-Offset': String(offset), 'Upload-Length': String(total) } })
  const { files } = await clientOver(({ method }) => {
    if (method === 'HEAD') return state(0)
    if (method !== 'PATCH') return begun()
    asked.resolve()
    return appends++ === 0 ? refusal() : state(total)
  })
  const put = files.put('a', new Uint8Array(total))
  put.catch(() => {})
  return { put, asked: asked.promise, appends: () => appends }
}

test('an upload waits at least for Retry-After before it continues (T-35)', async () => {
  stopTimers()
  const { put, asked, appends } = await refusedAppend(() =>
    json({ code: 104031, message: 'Locked.' }, 423, { 'Retry-After': '5' }),
  )
  await asked
  let waited = 0
  for (; appends() === 1; waited += 100) await vi.advanceTimersByTimeAsync(100)
  expect(waited).toBeGreaterThanOrEqual(5_000)
  await put
})

test('an upload ends if the service asks it to wait an hour', async () => {
  const { put, appends } = await refusedAppend(() =>
    json({ code: 100503, message: 'Busy.' }, 503, { 'Retry-After': '3600' }),
  )
  await expect(put).rejects.toMatchObject({ status: 503, retryAfter: 3600 })
  expect(appends()).toBe(1)
})

test('an answer may take longer than a minute while its bytes arrive', async () => {
  stopTimers()
  const links = [{ rel: 'storage', uri: `${address}/api/v2/admin/sites/1/storage/a` }]
  const entry = new TextEncoder().encode(JSON.stringify({ name: 'a', type: 'folder', links }))
  let asked = 0
  const client = await clientOver(({ signal }) => {
    asked += 1
    let sent = 0
    return new Response(
      new ReadableStream({
        start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, 50_000))
          controller.enqueue(entry.subarray(sent, sent + 40))
          sent += 40
          if (sent >= entry.length) controller.close()
        },
      }),
    )
  })
  const stat = client.files.stat('a')
  stat.catch(() => {})
  await vi.advanceTimersByTimeAsync(200_000)
  expect([await stat, asked]).toMatchObject([{ name: 'a' }, 1])
})

test.for([
  [1, 2],
  [8, 8],
] as const)('of %i files of 4 MB in ten minutes, %i requests are sent in this time', async ([files, requests]) => {
  stopTimers()
  let sent = 0
  const client = await clientOver((request) => {
    sent += 1
    const late = new Promise<Response>((resolve) => setTimeout(() => resolve(stored()), 600_000))
    return Promise.race([silence(request), late])
  })
  const puts = Array.from({ length: files }, (_, index) => client.files.put(`${index}`, new Uint8Array(4_000_000)))
  for (const put of puts) put.catch(() => {})
  await vi.advanceTimersByTimeAsync(600_000)
  expect(sent).toBe(requests)
})

test('a body that is read after a failed connection starts no timer', async () => {
  stopTimers()
  const client = await clientOver(({ method, url }) => {
    if (method === 'HEAD' || url.endsWith('?parts')) return new Response(null, { status: 404 })
    if (method === 'POST') return begun()
    throw new TypeError('fetch failed')
  })
  const watches: Watch[] = []
  const source = {
    size: 20_000_000,
    slice: () => '',
    streamed: (start: number, end: number) => ({
      size: end - start,
      stream(watch: Watch) {
        watches.push(watch)
        return new ReadableStream()
      },
    }),
  }
  await expect(client.files.put('large.bin', source)).rejects.toThrow(messages.client.noAnswer)
  expect(watches).toHaveLength(1)
  watches[0]?.onRead(1)
  expect(vi.getTimerCount()).toBe(0)
})
