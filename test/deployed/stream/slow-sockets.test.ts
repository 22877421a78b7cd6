import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { streaming } from '../../../lib/config/streaming.ts'
import { type StreamProcess, startStreamProcess } from '../stream-process.ts'
import { deployment, storage } from '../support/deployment.ts'

// The number of requests that all environments of the function answer at a time, and the number of requests with a
// valid token in one environment.
const places = 1_008

let stream: StreamProcess
beforeAll(async () => {
  stream = await startStreamProcess(process.env['DEPLOYED_STREAM_BUNDLE'] ?? '', process.env)
})
afterAll(() => stream.stop())

const headers = (token: string | undefined) =>
  Object.entries({ ...stream.headers, ...(token !== undefined && { Authorization: token }) })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')

/** Begins an upload, and then sends a byte a second. Returns the end of its connection. */
const beginSlowly = async (token: string | undefined, index: number): Promise<{ closed: Promise<unknown> }> => {
  const socket = connect(stream.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => {}).resume()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const line = `PUT ${storage}/slow/${index}.bin HTTP/1.1\r\nHost: stream\r\n`
  socket.write(`${line}${headers(token)}Content-Length: 1000000\r\n\r\n`)
  const timer = setInterval(() => socket.writable && socket.write('x'), 1_000)
  void closed.then(() => clearInterval(timer))
  return { closed }
}

const put = (content: string) =>
  fetch(`${stream.url}${storage}/quick.txt`, {
    method: 'PUT',
    headers: { ...stream.headers, Authorization: deployment.token, 'Content-Type': 'text/plain' },
    body: content,
  })

it('1,008 slow senders are cut off, and other files are stored (S-131, S-114)', async () => {
  const slow = Array.from({ length: places }, (_, index) =>
    beginSlowly(index < streaming.requestsAtOnce ? deployment.token : undefined, index),
  )
  const begun = await Promise.all(slow)
  expect((await put('while they send')).status).toBe(200)
  await Promise.all(begun.map(({ closed }) => closed))
  expect((await put('after them')).status).toBe(200)
})
