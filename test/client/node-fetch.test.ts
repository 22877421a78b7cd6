import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { connect, type UploadProgress } from '../../client/src/index.ts'
import { nodeFetch, openFile } from '../../client/src/node.ts'
import { startProxy } from './support/proxy.ts'
import { test as base } from './support/site.ts'

/** In bytes: more than any system holds back of what is on its way. */
const large = 64 * 1024 ** 2

const sitesAt = (url: string) => JSON.stringify({ items: [{ id: 1, name: 'Site', url, permissions: ['files'] }] })

// biome-ignore lint/correctness/noEmptyPattern: the runner reads from the pattern what a fixture needs
const test = base.extend('listenOn', async ({}, { onCleanup }) => {
  const servers: ReturnType<typeof createServer>[] = []
  onCleanup(async () => {
    for (const server of servers) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })
  /** Starts a server, and answers its address. */
  return async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener).listen(0, '127.0.0.1')
    // Else it would cut a connection in the middle of a request that it has answered.
    server.keepAliveTimeout = 0
    servers.push(server)
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
})

test('a file goes up whole, and comes down whole', async ({ service, folder, makeDirectory }) => {
  const bytes = randomBytes(20_000_001)
  const location = join(await makeDirectory(), 'large.bin')
  await writeFile(location, bytes)
  const { files } = await connect({ url: service.baseUrl, token: service.token, fetch: nodeFetch })
  const source = await openFile(location)
  await files.put(`${folder}/large.bin`, source)
  await source.close()
  expect(Buffer.from(await (await files.read(`${folder}/large.bin`)).arrayBuffer()).equals(bytes)).toBe(true)
})

test('an answer that comes before the end of the bytes counts, and the rest of them is neither sent nor read', async ({
  listenOn,
  makeDirectory,
}) => {
  const location = join(await makeDirectory(), 'large.bin')
  await writeFile(location, Buffer.alloc(large))
  const isCut = Promise.withResolvers<boolean>()
  let appends = 0
  const url: string = await listenOn(async (request, response) => {
    if (request.url?.endsWith('/sites')) return void response.end(sitesAt(url))
    if (request.method === 'POST') response.writeHead(201, { Location: '/api/v2/admin/sites/1/uploads/1' }).end()
    else if (request.method === 'PATCH' && appends++ === 0) {
      const { length } = await buffer(request)
      response.writeHead(204, { 'Upload-Offset': String(length) }).end()
    } else if (request.method === 'PATCH') {
      request.socket.on('close', () => isCut.resolve(!request.complete))
      response.writeHead(423, { 'Content-Type': 'application/json' }).end('{"code":104031,"message":"Locked."}')
    } else response.writeHead(404).end()
  })
  const { files } = await connect({ url, token: 'secret', fetch: nodeFetch, patience: { delay: 1 } })
  const source = await openFile(location)
  let read = 0
  const onProgress = ({ sent }: UploadProgress) => {
    read = Math.max(read, sent)
  }
  await expect(files.put('large.bin', source, { onProgress })).rejects.toMatchObject({ status: 423, code: 104031 })
  expect(await isCut.promise).toBe(true)
  await source.close()
  expect(read).toBeLessThan(large)
})

test.for([globalThis.fetch, nodeFetch])(
  'a file that becomes shorter while it is sent ends the upload with the reason, and nothing is stored',
  async (fetch, { service, client, folder, makeDirectory }) => {
    const location = join(await makeDirectory(), 'large.bin')
    await writeFile(location, Buffer.alloc(20_000_000))
    const asked: string[] = []
    const proxy = await startProxy(service.baseUrl, (method) => {
      asked.push(method)
      return 'pass'
    })
    const { files } = await connect({ url: proxy.url, token: service.token, fetch })
    const source = await openFile(location)
    await writeFile(location, Buffer.alloc(10_000_000))
    await expect(files.put(`${folder}/large.bin`, source)).rejects.toThrow('has become shorter while it was read')
    await source.close()
    await proxy.stop()
    // Nothing is tried again.
    expect(asked).toStrictEqual(['GET', 'POST', 'PATCH', 'PATCH'])
    await expect(client.files.stat(`${folder}/large.bin`)).rejects.toMatchObject({ code: 104001 })
  },
)

test('an answer that something in between has compressed is read as it was', async ({ listenOn }) => {
  const url: string = await listenOn((request, response) => {
    const takesIt = request.headers['accept-encoding']?.includes('gzip')
    if (takesIt) response.setHeader('Content-Encoding', 'gzip')
    response.end(takesIt ? gzipSync(sitesAt(url)) : 'It should have been asked for.')
  })
  const { site } = await connect({ url, token: 'secret', fetch: nodeFetch })
  expect(site.name).toBe('Site')
})

test('a signal ends a request that waits for its answer, and the bytes that still come', async ({ listenOn }) => {
  const url: string = await listenOn((request, response) => {
    if (request.url?.endsWith('/sites')) return void response.end(sitesAt(url))
    if (request.url?.includes('slow')) response.writeHead(200, { 'Content-Length': 10 }).write('half')
  })
  const reason = new Error('enough')
  const waits = new AbortController()
  const { files } = await connect({ url, token: 'secret', fetch: nodeFetch })
  const waiting = files.read('silent.txt', { signal: waits.signal })
  waits.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  const comes = new AbortController()
  const coming = await files.read('slow.txt', { signal: comes.signal })
  comes.abort(reason)
  await expect(coming.text()).rejects.toThrow()
})

test.for([globalThis.fetch, nodeFetch])(
  'where nobody listens, the message says so in the word of the system',
  async (fetch) => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const refused = connect({ url: `http://127.0.0.1:${port}`, token: 'secret', fetch, patience: { attempts: 1 } })
    await expect(refused).rejects.toThrow(`No answer came from 127.0.0.1:${port} (ECONNREFUSED).`)
  },
)
