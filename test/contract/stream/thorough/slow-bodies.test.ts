import type { Socket } from 'node:net'
import { describe, expect, it, type TestContext } from 'vitest'
import { storage } from '../../../support/paths.ts'
import { lastAnswer, requestText } from '../../../support/raw-http.ts'
import { connectTo, fromDistribution, openStream } from '../../../support/stream-server.ts'

const mebibyte = 1024 * 1024

/** Sends the same bytes every 100 ms, at most this many times, until the connection ends. */
const trickle = (test: TestContext, socket: Socket, bytes: Buffer, times = Number.POSITIVE_INFINITY): void => {
  let sent = 0
  const timer = setInterval(() => socket.writable && sent++ < times && socket.write(bytes), 100)
  socket.once('close', () => clearInterval(timer))
  test.onTestFinished(() => clearInterval(timer))
}

const beginPut = async (test: TestContext, url: string, headers: Record<string, string>, length = 100 * mebibyte) => {
  const connection = await connectTo(url, test)
  const all = { ...fromDistribution, ...headers, 'Content-Length': String(length) }
  connection.socket.write(requestText('PUT', `${storage}/a.bin`, all))
  return { ...connection, closed: new Promise((resolve) => connection.socket.once('close', resolve)) }
}

// The cases wait most of the time, so they run at once.
describe.concurrent('A request behind a distribution', () => {
  it('a body slower than 16 KiB/s ends the request, with any token (S-131)', async (test) => {
    const { url, token } = await openStream(test)
    const { socket, closed, text } = await beginPut(test, url, { Authorization: token })
    trickle(test, socket, Buffer.alloc(1_000))
    await closed
    expect(text()).toBe('')
  })

  it('a body that arrives at 16 KiB/s is stored (S-131)', async (test) => {
    const { url, token } = await openStream(test)
    const { socket, text } = await beginPut(test, url, { Authorization: token }, 180 * 2_000)
    trickle(test, socket, Buffer.alloc(2_000), 180)
    await test.expect.poll(text, { timeout: 50_000 }).toMatch(/"status":"success"/)
  })

  it.for([
    ['without a token', {}],
    ['with a wrong token', { Authorization: 'f'.repeat(64) }],
  ] as const)('a request %s ends after 1 MiB of its body (S-114, A-10)', async ([, headers], test) => {
    const { url } = await openStream(test)
    const { socket, closed, text } = await beginPut(test, url, headers)
    let sent = 0
    const write = () => {
      while (!socket.destroyed && sent < 64) {
        sent += 1
        if (!socket.write(Buffer.alloc(mebibyte))) return void socket.once('drain', write)
      }
      return undefined
    }
    write()
    await closed
    expect(sent).toBeLessThan(20)
    expect(text()).toMatch(/^$|^HTTP\/1\.1 401 /)
  })

  it('without a valid token, a request ends after 10 s (S-114)', async (test) => {
    const { url } = await openStream(test)
    const { socket, closed, text } = await beginPut(test, url, {})
    trickle(test, socket, Buffer.alloc(4_000))
    await closed
    expect(text()).toBe('')
  })

  it('a redirect to another data centre is sent even after 8 MiB (S-114, A-23)', async (test) => {
    const { url, distantToken } = await openStream(test)
    const body = Buffer.alloc(8 * mebibyte)
    const { socket, text } = await beginPut(test, url, { Authorization: distantToken }, body.length)
    socket.write(body)
    await test.expect.poll(text).toMatch(/^HTTP/)
    expect(lastAnswer(text())).toMatchObject({
      status: 301,
      headers: { location: expect.stringMatching(/^https:..eu/) },
    })
  })
})
