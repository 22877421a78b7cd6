import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type Fetch, hasNoBody } from './transport.ts'

/** So much is read at once while it is sent, in bytes. */
const chunkSize = 512 * 1024

/** Resolves once the system has the bytes: they may be overwritten then. */
const write = (request: ClientRequest, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    request.write(bytes, (error) => (error ? reject(error) : resolve()))
  })

/** Sends bytes that are read meanwhile: the next ones while these are sent, and all by way of the same two buffers. */
const sendStream = async (request: ClientRequest, stream: ReadableStream<Uint8Array>): Promise<void> => {
  const closed = once(request, 'close').then(() => {
    throw new Error('The connection was closed.')
  })
  closed.catch(() => {})
  const reader = stream.getReader({ mode: 'byob' })
  try {
    let reading = reader.read(new Uint8Array(chunkSize))
    let spare = new ArrayBuffer(chunkSize)
    for (let read = await reading; !read.done; read = await reading) {
      reading = reader.read(new Uint8Array(spare))
      reading.catch(() => {})
      await Promise.race([write(request, read.value), closed])
      spare = read.value.buffer
    }
    request.end()
  } finally {
    reader.cancel().catch(() => {})
  }
}

const responseOf = (incoming: IncomingMessage, method: string | undefined): Response => {
  const { statusCode: status = 0, rawHeaders } = incoming
  const headers = new Headers()
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '')
  if (method === 'HEAD' || hasNoBody(status)) {
    incoming.resume()
    return new Response(null, { status, headers })
  }
  const isCompressed = headers.get('Content-Encoding') === 'gzip'
  const bytes = isCompressed ? pipeline(incoming, createGunzip(), () => {}) : incoming
  return new Response(Readable.toWeb(bytes) as ReadableStream, { status, headers })
}

/**
 * A `fetch` for `connect` in Node: it sends a large file in about half the time of Node's own, which copies what it sends. It takes the requests that the client
 * makes, and follows no redirect. Errors: those of `node:http`, and the reason of the signal.
 */
export const nodeFetch: Fetch = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const begin = url.startsWith('https:') ? requestHttps : requestHttp
    const request = begin(url, {
      method: method ?? 'GET',
      headers: { 'Accept-Encoding': 'gzip', ...Object.fromEntries(new Headers(headers)) },
      ...(signal && { signal }),
    })
    request.on('error', reject)
    request.on('response', (incoming) => {
      // Nobody waits for the rest of a request that is answered before its end, and the connection is of no more use.
      if (!request.writableEnded) incoming.once('end', () => request.destroy())
      resolve(responseOf(incoming, method))
    })
    if (body instanceof ReadableStream) {
      sendStream(request, body).catch((error) => request.destroy(error))
    } else if (body instanceof Blob) {
      body.arrayBuffer().then(
        (bytes) => request.end(Buffer.from(bytes)),
        (error) => request.destroy(error),
      )
    } else request.end(body ?? undefined)
  })
