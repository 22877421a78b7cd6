import { Agent, type IncomingHttpHeaders, request } from 'node:http'

export interface TusServer {
  // The URL to which a request to create an upload is sent.
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
}

const inTus = { 'Tus-Resumable': '1.0.0' }
const chunk = Buffer.alloc(256 * 1024, 'x')
const agent = new Agent({ keepAlive: true })

interface Sent {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

// Sends `length` bytes as fast as the server accepts them.
const send = (
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  length: number,
): Promise<Sent> => {
  const { promise, resolve, reject } = Promise.withResolvers<Sent>()
  const all = { ...inTus, ...headers, 'Content-Length': String(length) }
  const outgoing = request(url, { agent, method, headers: all }, (response) => {
    const { statusCode: status = 0, headers: received } = response
    response.resume().on('end', () => resolve({ status, headers: received }))
  }).on('error', reject)
  let sent = 0
  const pour = () => {
    while (sent < length) {
      const piece = chunk.subarray(0, Math.min(chunk.length, length - sent))
      sent += piece.length
      if (!outgoing.write(piece)) return void outgoing.once('drain', pour)
    }
    outgoing.end()
  }
  pour()
  return promise
}

let count = 0

/** Uploads `size` bytes in requests of `step` bytes. Returns seconds. */
export const upload = async ({ endpoint, headers }: TusServer, size: number, step: number): Promise<number> => {
  count += 1
  const filename = Buffer.from(`large-${count % 32}.bin`).toString('base64')
  const creation = { ...headers, 'Upload-Length': String(size), 'Upload-Metadata': `filename ${filename}` }
  const startedAt = performance.now()
  const created = await send(endpoint, 'POST', creation, 0)
  const location = new URL(created.headers['location'] ?? '', endpoint).href
  for (let offset = 0; offset < size; offset += step) {
    const bytes = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset) }
    const { status } = await send(location, 'PATCH', { ...headers, ...bytes }, Math.min(step, size - offset))
    if (status !== 204) throw new Error(`An append at ${offset} was answered ${status}`)
  }
  return (performance.now() - startedAt) / 1000
}
