import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3'
import { expect, test, vi } from 'vitest'
import { connect, type PutOptions } from '../../client/src/index.ts'
import { openStorageOnAws } from '../contract/storage/hands.ts'
import { openStorage } from '../contract/storage/service.ts'
import { openBucketInMemory } from '../support/bucket.ts'
import { scratchDirectory } from '../support/directory.ts'
import { listenInTest } from '../support/listen.ts'
import { messages } from '../support/messages.ts'
import { bytesIn } from '../support/objects.ts'
import { Refusal } from '../support/s3-messages.ts'
import { asDemo, siteFiles } from './support/command.ts'
import { json, patience } from './support/scripted-fetch.ts'

const part = 8 * 1024 * 1024
const threeParts = Buffer.alloc(2 * part + 5, 'x')
const nineParts = Buffer.alloc(8 * part + 5, 'x')
const base = 'http://localhost'

interface Sent {
  readonly method: string
  readonly url: URL
  readonly token: string | null
}

/** A client of a service, by default of a service with a bucket. Requests that match `isAway` get no answer. */
const openClient = async ({ hasBucket = true, bytes = threeParts } = {}) => {
  const bucket = openBucketInMemory()
  const service = await (hasBucket ? openStorageOnAws({ bucket }) : openStorage())
  Object.assign(service.deps, { largestResumableFile: 2 * bytes.length })
  const sent: Sent[] = []
  let address = ''
  const state = { isAway: (_: Sent): boolean => false, onRead: (_: number): void => {}, bytes }
  const fetchIn = async (input: string, init: RequestInit): Promise<Response> => {
    const { method, headers } = new Request(input, { ...init, body: null })
    const url = new URL(input)
    const body = init.body ? Buffer.from(await new Response(init.body).arrayBuffer()) : undefined
    if (url.pathname.endsWith('/admin/sites')) {
      return json({ items: [{ id: service.site, name: 'Test', url: base, permissions: ['files'] }] })
    }
    const each = { method, url, token: headers.get('Authorization') }
    sent.push(each)
    if (state.isAway(each)) throw new TypeError('fetch failed')
    const query = Object.fromEntries(url.searchParams)
    if (url.origin !== base) {
      const request = { method, path: url.pathname, query, headers: Object.fromEntries(headers), body }
      const { response } = await bucket.connect().config.requestHandler.handle(request as never)
      return new Response(null, { status: response.statusCode })
    }
    const path = url.pathname.replace(/^.*?\/sites\/\w+/, '')
    const given = { 'Tus-Resumable': null, ...Object.fromEntries(headers), authorization: null }
    const answer = await service.tus(method, path, { query, headers: given, ...(body && { body }) })
    const text = [101, 204, 205, 304].includes(answer.status) || method === 'HEAD' ? null : answer.text
    return new Response(text, { status: answer.status, headers: { ...answer.headers } as Record<string, string> })
  }
  const source = {
    size: bytes.length,
    slice(start: number, end: number) {
      state.onRead(end)
      return state.bytes.subarray(start, end)
    },
  }
  const client = await connect({
    url: base,
    token: 'secret',
    site: service.site,
    patience: { ...patience, attempts: 2 },
    fetch: fetchIn,
  })
  return {
    bucket,
    sent,
    state,
    fetchIn,
    records: service.deps.uploadRecords,
    put: ({ path = 'film.mp4', ...options }: PutOptions & { readonly path?: string } = {}) =>
      client.files.put(path, source, {
        onBegun(begun) {
          address = begun
        },
        ...options,
      }),
    begun: () => address,
    cancel: (address: string) => client.files.cancel(address),
    content: () => bytesIn(service.deps.files, `live/${service.site}/film.mp4`),
    appends: () => sent.filter(({ method, url }) => method === 'PATCH' && url.origin === base).length,
    partsSent: () =>
      sent.filter(({ method }) => method === 'PUT').map(({ url }) => Number(url.searchParams.get('partNumber'))),
  }
}

test('a large file goes to the bucket in parts, also after an address expired (T-60)', async () => {
  const { put, bucket, sent, content, partsSent } = await openClient({ bytes: nineParts })
  let hasExpired = false
  bucket.s3.before = async ({ query }) => {
    if (query?.['partNumber'] !== '2' || hasExpired) return
    hasExpired = true
    throw new Refusal(403, 'AccessDenied')
  }
  const reported: number[] = []
  await put({ onProgress: ({ sent: count }) => reported.push(count) })
  expect((await content())?.equals(nineParts)).toBe(true)
  expect(partsSent().toSorted((a, b) => a - b)).toEqual([1, 2, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(sent.filter(({ url, token }) => (url.origin === base) !== (token === 'secret'))).toEqual([])
  // Requests to the service: the start with the addresses of all parts, a new address, and the end.
  const methods = sent.filter(({ url }) => url.origin === base).map(({ method }) => method)
  expect(methods).toEqual(['POST', 'GET', 'PATCH'])
  expect(reported).toEqual([
    ...Array.from({ length: 9 }, (_, count) => count * part),
    nineParts.length,
    nineParts.length,
  ])
})

test('after a crash, an upload in parts sends only the missing parts (T-60)', async () => {
  const { put, begun, state, sent, partsSent, content } = await openClient()
  state.isAway = ({ url }) => ['1', '3'].includes(url.searchParams.get('partNumber') ?? '')
  await expect(put()).rejects.toMatchObject({ status: 0 })
  state.isAway = () => false
  sent.length = 0
  await put({ resume: begun() })
  expect(partsSent()).toEqual([1, 3])
  expect((await content())?.equals(threeParts)).toBe(true)
  // The file is already placed, so no part is sent.
  sent.length = 0
  await put({ resume: begun(), replace: true })
  expect(partsSent()).toEqual([])
})

test('a file that changed after a crash is not stored, even after its last part (T-60)', async () => {
  const { put, begun, state, partsSent, content } = await openClient()
  const crash = new AbortController()
  state.isAway = ({ url }) => {
    if (url.searchParams.get('partNumber') === '3') crash.abort(new Error('crash'))
    return url.searchParams.get('partNumber') === '1'
  }
  await expect(put({ signal: crash.signal })).rejects.toThrow('crash')
  expect(partsSent()).toContain(3)
  state.isAway = () => false
  // As `openFile` does for a file that changed.
  state.onRead = (end) => {
    if (end === threeParts.length) throw new Error('changed')
  }
  await expect(put({ resume: begun() })).rejects.toThrow('changed')
  expect(await content()).toBeUndefined()
})

test('a file that changes during its parts is not stored, nor sent by tus (T-60)', async () => {
  const { put, state, appends, content, partsSent } = await openClient()
  state.isAway = ({ url }) => {
    if (url.searchParams.has('parts')) state.bytes = Buffer.alloc(threeParts.length, 'y')
    return false
  }
  await expect(put()).rejects.toThrow(messages.client.changedDuringUpload)
  expect(partsSent().toSorted((a, b) => a - b)).toEqual([1, 2, 3])
  expect([await content(), appends()]).toEqual([undefined, 0])
})

test('a client that cannot reach the bucket sends the file by tus (T-60)', async () => {
  const { put, state, bucket, appends, content } = await openClient()
  state.isAway = ({ url }) => url.origin !== base
  await put()
  expect(appends()).toBeGreaterThan(1)
  expect((await content())?.equals(threeParts)).toBe(true)
  const { Uploads = [] } = await bucket.connect().send(new ListMultipartUploadsCommand({ Bucket: bucket.bucket }))
  expect(Uploads).toEqual([])
})

test('after the whole network was away, files still go in parts (T-60)', async () => {
  const { put, begun, state, appends, content } = await openClient()
  let isBroken = false
  state.isAway = ({ url }) => {
    isBroken ||= url.origin !== base
    return isBroken
  }
  await expect(put()).rejects.toMatchObject({ status: 0 })
  state.isAway = () => false
  await put({ resume: begun() })
  await put({ path: 'other.mp4' })
  // One PATCH completes each upload in parts.
  expect(appends()).toBe(2)
  expect((await content())?.equals(threeParts)).toBe(true)
})

test('an upload in parts continues in parts after another file was sent by tus (T-60)', async () => {
  const { put, begun, state, sent, partsSent } = await openClient()
  state.isAway = ({ url }) => ['1', '3'].includes(url.searchParams.get('partNumber') ?? '')
  await expect(put()).rejects.toMatchObject({ status: 0 })
  const resume = begun()
  state.isAway = ({ url }) => url.origin !== base
  await put({ path: 'other.mp4' })
  state.isAway = () => false
  sent.length = 0
  await put({ resume })
  expect(partsSent()).toEqual([1, 3])
})

test('after too many open uploads, the next file goes in parts again (T-60, U-17)', async () => {
  const { put, records, partsSent } = await openClient()
  const create = vi.spyOn(records, 'create').mockResolvedValue(false)
  await expect(put()).rejects.toMatchObject({ code: 104000 })
  create.mockRestore()
  await put()
  expect(partsSent().toSorted()).toEqual([1, 2, 3])
})

test('a service that offers no parts is asked once, and gets files by tus (T-60)', async () => {
  const { put, sent, content } = await openClient({ hasBucket: false })
  await put()
  await put({ replace: true })
  expect(sent.filter(({ url }) => url.searchParams.has('parts'))).toHaveLength(1)
  expect((await content())?.equals(threeParts)).toBe(true)
})

test('site-files put sends a large file directly to the bucket, in parts (T-60)', async () => {
  const { fetchIn, sent, content, partsSent } = await openClient()
  const ofBucket = 'https://s3.test'
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    const body = Buffer.concat(await request.toArray())
    const target = `${url.startsWith('/memory/') ? ofBucket : base}${url}`
    const init = { method, headers: headers as Record<string, string>, ...(body.length > 0 && { body }) }
    const answer = await fetchIn(target, init)
    const asHere = (text: string) => text.replaceAll(ofBucket, here).replaceAll(base, here)
    for (const [name, value] of answer.headers) if (name !== 'content-length') response.setHeader(name, asHere(value))
    response.writeHead(answer.status).end(asHere(await answer.text()))
  })
  const here = await listenInTest(server)
  const file = join(scratchDirectory(), 'film.mp4')
  await writeFile(file, threeParts)
  const run = await siteFiles(['put', file, 'film.mp4'], asDemo({ baseUrl: here, token: 'secret' }))
  expect(run).toMatchObject({ status: 0, stderr: '' })
  const toBucket = sent.filter(({ url }) => url.origin === ofBucket)
  expect([toBucket.length, ...partsSent().toSorted()]).toEqual([3, 1, 2, 3])
  expect(toBucket.map(({ token }) => token)).toEqual([null, null, null])
  expect((await content())?.equals(threeParts)).toBe(true)
})

test('an upload in parts can be cancelled (T-60)', async () => {
  const { put, begun, cancel, bucket } = await openClient()
  const stop = new AbortController()
  const onProgress = ({ sent }: { readonly sent: number }) => sent > 0 && stop.abort(new Error('enough'))
  await expect(put({ signal: stop.signal, onProgress })).rejects.toThrow('enough')
  expect(await bucket.leftovers()).toBe(1)
  await cancel(begun())
  expect(await bucket.leftovers()).toBe(0)
})
