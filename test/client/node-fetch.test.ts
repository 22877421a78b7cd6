import { writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { Fetch } from '../../client/src/call.ts'
import { connect } from '../../client/src/index.ts'
import { nodeFetch, openFile } from '../../client/src/node.ts'
import { makeCertificate } from '../support/certificates.ts'
import { listen } from '../support/listen.ts'
import { messages } from '../support/messages.ts'
import { zeros } from './support/scripted-fetch.ts'
import { test as base } from './support/site.ts'

/** In bytes: more than the buffers of the system can contain. */
const large = 24 * 1024 ** 2

const test = base.extend('uploadTo', async ({ listen }) => {
  /** Uploads to a service with this listener for bytes. `left` resolves when the client stops reading the file. */
  return async (append: RequestListener, signal?: AbortSignal, fetch = nodeFetch) => {
    const url: string = await listen((request, response) => {
      const sites = JSON.stringify({ items: [{ id: 1, name: 'Site', url, permissions: ['files'] }] })
      if (request.url?.endsWith('/sites')) return void response.end(sites)
      if (request.method === 'PATCH') return append(request, response)
      if (request.method !== 'POST' || request.url?.endsWith('?parts')) return void response.writeHead(404).end()
      response.writeHead(201, { Location: '/api/v2/admin/sites/1/uploads/1' }).end()
    })
    const { promise: left, resolve } = Promise.withResolvers<void>()
    const { files } = await connect({ url, token: 'secret', fetch, patience: { delay: 1 } })
    const put = files.put('large.bin', zeros(large, resolve), { signal })
    put.catch(() => {})
    return { put, left }
  }
})

test('an answer that comes before all bytes are sent ends the upload', async ({ uploadTo }) => {
  const isCut = Promise.withResolvers<boolean>()
  const { put, left } = await uploadTo((request, response) => {
    request.socket.on('close', () => isCut.resolve(!request.complete))
    response.writeHead(423, { 'Content-Type': 'application/json' }).end('{"code":104031,"message":"Locked."}')
  })
  await expect(put).rejects.toMatchObject({ status: 423, code: 104031 })
  await left
  expect(await isCut.promise).toBe(true)
})

test('a signal ends an upload while its bytes are sent', async ({ uploadTo }) => {
  const [reason, stop] = [new Error('enough'), new AbortController()]
  const { put, left } = await uploadTo(() => stop.abort(reason), stop.signal)
  await expect(put).rejects.toBe(reason)
  await left
})

test('a signal ends an upload while its answer is read', async ({ uploadTo }) => {
  const [reason, stop] = [new Error('enough'), new AbortController()]
  const fetch: Fetch = async (to, init) => {
    const response = await nodeFetch(to, init)
    if (response.headers.get('Upload-Offset') === String(large)) stop.abort(reason)
    return response
  }
  const answer: RequestListener = (_, response) =>
    response.writeHead(200, { 'Upload-Offset': large, 'Content-Length': 10 }).write('half')
  const { put, left } = await uploadTo(answer, stop.signal, fetch)
  await expect(put).rejects.toBe(reason)
  await left
})

test.for([
  [101, { Connection: 'Upgrade', Upgrade: 'other' }],
  [101, {}],
  [999, {}],
] as const)('an invalid answer (%i %j) counts as no answer', async ([status, headers], { uploadTo }) => {
  const { put, left } = await uploadTo((_, response) => response.writeHead(status, headers).end())
  await expect(put).rejects.toThrow(messages.client.noAnswer)
  await left
})

test.for([globalThis.fetch, nodeFetch])(
  'a file that shrinks while it is sent fails with the reason, and is not stored',
  async (fetch, { service, client, folder, makeDirectory, proxied }) => {
    const location = join(await makeDirectory(), 'large.bin')
    await writeFile(location, Buffer.alloc(8_000_000))
    const asked: string[] = []
    const url = await proxied((method) => {
      asked.push(method)
      return 'pass'
    })
    const { files } = await connect({ url, token: service.token, fetch })
    const source = await openFile(location)
    await writeFile(location, Buffer.alloc(5_000_000))
    await expect(files.put(`${folder}/large.bin`, source)).rejects.toThrow('became shorter during the upload')
    await source.close()
    // The client repeats no request, and ends the upload.
    expect(asked).toStrictEqual(['GET', 'POST', 'PATCH', 'DELETE'])
    await expect(client.files.stat(`${folder}/large.bin`)).rejects.toMatchObject({ code: 104001 })
  },
)

test.for([globalThis.fetch, nodeFetch])('a refused connection is reported with its system code', async (fetch) => {
  const server = createServer()
  const url = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  const refused = connect({ url, token: 'secret', fetch, patience: { attempts: 1 } })
  await expect(refused).rejects.toThrow(messages.client.noAnswerFrom(new URL(url).host, 'ECONNREFUSED'))
})

test('an untrusted certificate is reported after one attempt', async ({ makeDirectory }) => {
  const server = createSecureServer(makeCertificate(await makeDirectory(), 'other'))
  onTestFinished(() => void server.close())
  const url = (await listen(server)).replace('http:', 'https:')
  const asked: string[] = []
  const fetch: Fetch = (to, init) => {
    asked.push(to)
    return nodeFetch(to, init)
  }
  const refused = connect({ url, token: 'secret', fetch, patience: { delay: 1 } })
  await expect(refused).rejects.toThrow(messages.client.noAnswerFrom(new URL(url).host, 'DEPTH_ZERO_SELF_SIGNED_CERT'))
  expect(asked).toHaveLength(1)
})
