import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'vitest'
import { connect, type Source } from '../../client/src/index.ts'
import { nodeFetch, openFile } from '../../client/src/node.ts'
import type { Fetch } from '../../client/src/transport.ts'
import { test } from './support/site.ts'

/** Bytes: more than any system buffers. */
const large = 64 * 1024 ** 2

/** Zeros that are read while they are sent, and a promise that resolves when nobody wants more. */
const zeros = () => {
  const left = Promise.withResolvers<void>()
  const source: Source = {
    size: large,
    slice: (start, end) => new Uint8Array(end - start),
    streamed: (start, end) => ({
      size: end - start,
      stream({ onRead }) {
        let position = start
        return new ReadableStream({
          type: 'bytes',
          autoAllocateChunkSize: 65_536,
          pull(controller) {
            const { byobRequest } = controller
            const count = Math.min(byobRequest?.view?.byteLength ?? 0, end - position)
            position += count
            onRead(count)
            byobRequest?.respond(count)
            if (position === end) controller.close()
          },
          cancel: () => left.resolve(),
        })
      },
    }),
  }
  return { source, left: left.promise }
}

/** A service that creates uploads, and handles the bytes with a given listener. */
const takingUploads =
  (url: () => string, append: RequestListener): RequestListener =>
  (request, response) => {
    if (request.url?.endsWith('/sites')) return void response.end(sitesAt(url()))
    if (request.method === 'PATCH') return append(request, response)
    if (request.method !== 'POST') return void response.writeHead(404).end()
    response.writeHead(201, { Location: '/api/v2/admin/sites/1/uploads/1' }).end()
  }

const sitesAt = (url: string) => JSON.stringify({ items: [{ id: 1, name: 'Site', url, permissions: ['files'] }] })

test('an answer before the end of the bytes counts, and ends the upload', async ({ listen }) => {
  const isCut = Promise.withResolvers<boolean>()
  const url: string = await listen(
    takingUploads(
      () => url,
      (request, response) => {
        request.socket.on('close', () => isCut.resolve(!request.complete))
        response.writeHead(423, { 'Content-Type': 'application/json' }).end('{"code":104031,"message":"Locked."}')
      },
    ),
  )
  const { files } = await connect({ url, token: 'secret', fetch: nodeFetch, patience: { delay: 1 } })
  const { source, left } = zeros()
  await expect(files.put('large.bin', source)).rejects.toMatchObject({ status: 423, code: 104031 })
  await left
  expect(await isCut.promise).toBe(true)
})

test('a signal ends an upload while its bytes are sent', async ({ listen }) => {
  const [reason, stop] = [new Error('enough'), new AbortController()]
  const url: string = await listen(
    takingUploads(
      () => url,
      () => stop.abort(reason),
    ),
  )
  const { files } = await connect({ url, token: 'secret', fetch: nodeFetch })
  const { source, left } = zeros()
  await expect(files.put('large.bin', source, { signal: stop.signal })).rejects.toBe(reason)
  await left
})

test('a signal ends an upload during its answer', async ({ listen }) => {
  const [reason, stop] = [new Error('enough'), new AbortController()]
  const url: string = await listen(
    takingUploads(
      () => url,
      (_, response) => response.writeHead(200, { 'Upload-Offset': large, 'Content-Length': 10 }).write('half'),
    ),
  )
  const fetch: Fetch = async (to, init) => {
    const response = await nodeFetch(to, init)
    if (response.headers.get('Upload-Offset') === String(large)) stop.abort(reason)
    return response
  }
  const { files } = await connect({ url, token: 'secret', fetch })
  const { source, left } = zeros()
  await expect(files.put('large.bin', source, { signal: stop.signal })).rejects.toBe(reason)
  await left
})

test.for([
  [101, { Connection: 'Upgrade', Upgrade: 'other' }],
  [101, {}],
  [999, {}],
] as const)('an invalid answer (%i %j) is a failure like any other', async ([status, headers], { listen }) => {
  const url: string = await listen(
    takingUploads(
      () => url,
      (_, response) => response.writeHead(status, headers).end(),
    ),
  )
  const { files } = await connect({ url, token: 'secret', fetch: nodeFetch, patience: { delay: 1 } })
  const { source, left } = zeros()
  await expect(files.put('large.bin', source)).rejects.toThrow('did not answer')
  await left
})

test.for([globalThis.fetch, nodeFetch])(
  'a file that shrinks during its upload ends the upload with the reason, and nothing is stored',
  async (fetch, { service, client, folder, makeDirectory, proxied }) => {
    const location = join(await makeDirectory(), 'large.bin')
    await writeFile(location, Buffer.alloc(20_000_000))
    const asked: string[] = []
    const url = await proxied((method) => {
      asked.push(method)
      return 'pass'
    })
    const { files } = await connect({ url, token: service.token, fetch })
    const source = await openFile(location)
    await writeFile(location, Buffer.alloc(10_000_000))
    await expect(files.put(`${folder}/large.bin`, source)).rejects.toThrow('became shorter during the upload')
    await source.close()
    // No request was repeated.
    expect(asked).toStrictEqual(['GET', 'POST', 'PATCH'])
    await expect(client.files.stat(`${folder}/large.bin`)).rejects.toMatchObject({ code: 104001 })
  },
)

test.for([globalThis.fetch, nodeFetch])(
  'if nobody listens, the message has the error code of the system',
  async (fetch) => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const refused = connect({ url: `http://127.0.0.1:${port}`, token: 'secret', fetch, patience: { attempts: 1 } })
    await expect(refused).rejects.toThrow(`127.0.0.1:${port} did not answer (ECONNREFUSED).`)
  },
)
