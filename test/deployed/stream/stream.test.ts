import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { streaming } from '../../../lib/config/functions.ts'
import { memoryOf } from '../../../tools/bench/measure/measured-process.ts'
import { type StreamProcess, startStreamProcess } from '../stream-process.ts'
import { deployment, storage } from '../support/deployment.ts'

const mebibyte = 1024 * 1024
/** Twice as much as the process may keep. */
const large = 128 * mebibyte
const bundle = process.env['DEPLOYED_STREAM_BUNDLE'] ?? ''

let stream: StreamProcess
beforeAll(async () => {
  stream = await startStreamProcess(bundle, { ...process.env, LARGEST_FILE: String(large) })
})
afterAll(() => stream.stop())

function* chunks(count: number, from = 0): Generator<Buffer, void> {
  for (let at = from; at < from + count; at++) {
    const chunk = Buffer.allocUnsafe(mebibyte)
    for (let index = 0; index < mebibyte; index += 4)
      chunk.writeUInt32LE((at * 2_654_435_761 + index * 40_503) >>> 0, index)
    yield chunk
  }
}

const digestOf = (bytes: Iterable<Buffer>): string => {
  const digest = createHash('sha256')
  for (const chunk of bytes) digest.update(chunk)
  return digest.digest('hex')
}

const begin = (method: string, path: string, headers: Readonly<Record<string, string | number>> = {}) =>
  request(`${stream.url}${storage}${path}`, {
    method,
    agent: false,
    headers: { Authorization: deployment.token, ...stream.headers, ...headers },
  })

const write = async (call: ClientRequest, bytes: Iterable<Buffer>): Promise<void> => {
  for (const chunk of bytes) if (!call.write(chunk)) await once(call, 'drain')
}

const end = async (call: ClientRequest): Promise<{ status: number | undefined; body: string }> => {
  const answered = once(call, 'response')
  call.end()
  const [answer] = (await answered) as [IncomingMessage]
  return { status: answer.statusCode, body: Buffer.concat(await answer.toArray()).toString() }
}

const succeeded = { status: 200, body: '{"status":"success"}' }

const put = async (path: string, mebibytes: number) => {
  const call = begin('PUT', path, { 'Content-Length': mebibytes * mebibyte })
  await write(call, chunks(mebibytes))
  return end(call)
}

const percent = async (): Promise<number> => JSON.parse((await end(begin('GET', '?status'))).body).percent

const digestAt = async (path: string): Promise<string> => {
  const call = begin('GET', path)
  call.end()
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  expect(answer.statusCode).toBe(200)
  const digest = createHash('sha256')
  for await (const chunk of answer) digest.update(chunk)
  return digest.digest('hex')
}

/** The largest growth of the memory of the process during `run`, in MiB, from the kernel. */
const growthDuring = async (run: () => Promise<void>): Promise<number> => {
  const memory = memoryOf(stream.pid)
  const before = memory.reset()
  await run()
  return memory.peak() - before
}

const remove = async (path: string) => expect(await end(begin('DELETE', path))).toMatchObject({ status: 200 })

const expected = digestOf(chunks(large / mebibyte))

it('128 MiB can be sent in one PUT with progress, and come back unchanged', async () => {
  // The process needs this memory to work.
  expect(await put('/large/first.bin', 1)).toEqual(succeeded)
  const growth = await growthDuring(async () => {
    const call = begin('PUT', '/large/put.bin', { 'Content-Length': large })
    const seen: number[] = []
    let sent = 0
    const writeNext = async (mebibytes: number) => {
      const count = Math.min(mebibytes, large / mebibyte - sent)
      sent += count
      await write(call, chunks(count, sent - count))
    }
    for (const least of [15, 30, 45]) {
      await writeNext(24)
      // Progress is written when bytes arrive, at a limited rate. So some bytes are sent before each check.
      const look = async () => {
        await writeNext(1)
        return percent()
      }
      // For half a second, the progress is still that of the previous upload (S-90).
      const isBetween = (seen: number) => seen >= least && seen < 100
      await expect.poll(look, { interval: 200, timeout: 60_000 }).toSatisfy(isBetween)
      seen.push(await percent())
    }
    await writeNext(large / mebibyte)
    expect(await end(call)).toEqual(succeeded)
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
    expect(seen.at(-1)).toBeLessThan(100)
  })
  expect(await percent()).toBe(100)
  expect(await digestAt('/large/put.bin')).toBe(expected)
  console.log(`128 MiB by PUT: ${growth.toFixed(0)} MiB more memory`)
  expect(growth).toBeLessThanOrEqual(64)
  await remove('/large/put.bin')
})

it('16 files of 32 MiB can be sent at once', async () => {
  const paths = Array.from({ length: 16 }, (_, index) => `/large/at-once-${index}.bin`)
  const growth = await growthDuring(async () => {
    const answers = await Promise.all(paths.map((path) => put(path, 32)))
    expect(answers).toEqual(paths.map(() => succeeded))
  })
  const one = digestOf(chunks(32))
  for (const path of paths.slice(0, 2)) expect(await digestAt(path)).toBe(one)
  console.log(`16 of 32 MiB at once: ${growth.toFixed(0)} MiB more memory`)
  expect(growth).toBeLessThanOrEqual(256)
  await remove('/large')
})

/** The number of requests that all environments of the function answer at a time. */
const places = 1_008

/** Begins an upload, and then sends a byte a second. Returns the end of its connection. */
const beginSlowly = async (token: string | undefined, index: number): Promise<{ closed: Promise<unknown> }> => {
  const socket = connect(stream.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => {}).resume()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const headers = { ...stream.headers, ...(token !== undefined && { Authorization: token }), 'Content-Length': 1e6 }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`PUT ${storage}/slow/${index}.bin HTTP/1.1\r\nHost: stream\r\n${lines.join('')}\r\n`)
  const timer = setInterval(() => socket.writable && socket.write('x'), 1_000)
  void closed.then(() => clearInterval(timer))
  return { closed }
}

it('1,008 slow senders are cut off, and other files are stored (S-131, S-114)', async () => {
  const tokenOf = (index: number) => (index < streaming.requestsAtOnce ? deployment.token : undefined)
  const begun = await Promise.all(Array.from({ length: places }, (_, index) => beginSlowly(tokenOf(index), index)))
  expect(await put('/while-they-send.bin', 1)).toEqual(succeeded)
  await Promise.all(begun.map(({ closed }) => closed))
  expect(await put('/after-them.bin', 1)).toEqual(succeeded)
})
