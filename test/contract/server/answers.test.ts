import { once } from 'node:events'
import { Readable } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { breakingStream, textReply } from '../../support/bare-handler.ts'
import { lastAnswer, rawConnection, requestText, sendText } from '../../support/raw-http.ts'
import { listening } from './listening.ts'

const received = (url: string, method = 'GET', target = '/'): Promise<string> =>
  sendText(url, requestText(method, target, { Connection: 'close' }))

test('an idle connection stays open for longer than a proxy keeps it (O-24)', async () => {
  const { url } = await listening(async () => textReply(2, Buffer.from('ok')))
  expect((await fetch(url)).headers.get('keep-alive')).toBe('timeout=125')
})

test('HEAD returns no bytes, and destroys the stream of the body', async () => {
  const stream = Readable.from([Buffer.from('hello')])
  const { url } = await listening(async () => textReply(5, stream))
  const answer = lastAnswer(await received(url, 'HEAD'))
  expect(answer).toMatchObject({ status: 200, body: '', headers: { 'content-length': '5' } })
  expect(stream.destroyed).toBe(true)
})

test('a stream that breaks before its first byte is answered like any other failure', async () => {
  const failure = Object.assign(new Error('the disk broke off'), { code: 'EIO' })
  const { url, records } = await listening(async () => textReply(5, breakingStream(failure)))
  const answer = lastAnswer(await received(url))
  expect(answer.status).toBe(500)
  expect(JSON.parse(answer.body)).toMatchObject({ code: 100500 })
  expect(records).toEqual([expect.objectContaining({ status: 500, error: failure })])
})

test.each([
  ['breaks later', () => breakingStream(new Error('the disk broke off'), 'he'), 'the disk broke off'],
  ['is shorter than declared', () => Readable.from([Buffer.from('hel')]), 'declares'],
  ['is longer than declared', () => Readable.from([Buffer.from('hello, hello')]), 'declares'],
])('a stream that %s ends the connection, and is logged once', async (_, open, reason) => {
  const { url, records } = await listening(async () => textReply(5, open()))
  await expect(fetch(url).then((answer) => answer.text())).rejects.toThrow()
  expect(records).toMatchObject([{ status: 200, error: { message: expect.stringContaining(reason) } }])
})

test('a stream for a caller that has left before the answer ends, too (V-24)', async () => {
  const [stream, gone] = [new Readable({ read: () => undefined }), Promise.withResolvers<void>()]
  stream.push('he')
  const { url, server } = await listening(async () => {
    await gone.promise
    return { status: 200, content: { type: 'a/b', bytes: stream } }
  })
  server.on('connection', (socket) => socket.once('close', gone.resolve))
  const asked = once(server, 'request')
  const connection = await rawConnection({ url })
  await connection.write(requestText('GET', '/'))
  await asked
  connection.destroy()
  await expect.poll(() => stream.destroyed).toBe(true)
})

test('an answer that comes before the end of its request closes the connection', async () => {
  const { url } = await listening(async () => textReply(5, Buffer.from('hello')))
  const connection = await rawConnection({ url })
  await connection.write(requestText('POST', '/', { 'Content-Length': '1000000' }))
  expect(lastAnswer(await connection.until(/hello/)).headers).toMatchObject({ connection: 'close' })
  await connection.write('x'.repeat(1_000_000))
  expect(lastAnswer(await connection.rest()).body).toBe('hello')
})

test('a header that cannot be sent is logged, and the service keeps running', async () => {
  const { url, records } = await listening(async () => ({ status: 200, headers: { 'X-Name': 'a\nb' } }))
  expect(lastAnswer(await received(url)).status).toBe(500)
  expect(records).toEqual([expect.objectContaining({ status: 500, error: expect.any(TypeError) })])
})

test.each([
  ['missing in HTTP/1.1', '1.1', '', 400],
  ['missing in HTTP/1.0', '1.0', '', 200],
  ['given twice', '1.1', 'Host: a\r\nHost: b\r\n', 400],
  ['sent twice with the same value', '1.1', 'Host: a\r\nhost: a\r\n', 400],
  ['sent twice in HTTP/1.0', '1.0', 'Host: a\r\nHost: b\r\n', 400],
  ['sent again after thousands of headers', '1.1', `Host: a\r\n${'a:\r\n'.repeat(3_000)}Host: b\r\n`, 400],
])('a request whose Host is %s is answered or refused', async (_, version, headers, status) => {
  const { url } = await listening(async () => ({ status: 200 }))
  const answer = lastAnswer(await sendText(url, `GET / HTTP/${version}\r\n${headers}Connection: close\r\n\r\n`))
  expect(answer.status).toBe(status)
  if (status === 400) expect(JSON.parse(answer.body)).toMatchObject({ code: 400, requestId: expect.any(String) })
})

test.each(['/ü', '/a b', '/?name=ü'])('the refusal of the URL %s says how to encode it (E-1)', async (target) => {
  const { url } = await listening(async () => ({ status: 200 }))
  const answer = lastAnswer(await received(url, 'GET', target))
  expect(answer.status).toBe(400)
  expect(JSON.parse(answer.body)).toMatchObject({ code: 400, message: expect.stringContaining('percent-encode') })
})

test('repeated headers are joined, including those that contain tokens', async () => {
  const seen: Record<string, string>[] = []
  const { url } = await listening(async ({ headers }) => {
    seen.push({ ...headers })
    return { status: 200 }
  })
  await sendText(url, 'GET / HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\nauthorization: y\r\nConnection: close\r\n\r\n')
  expect(seen).toEqual([{ host: 'a', authorization: 'x, y', connection: 'close' }])
})

test.each([
  ['/?a=1&b=2&a=3', '/', { a: ['1', '3'], b: ['2'] }],
  ['http://other.example/?a=%26', '/', { a: ['&'] }],
  ['HTTP://other.example/', '/', {}],
  ['/?a#b=1', '/', { 'a#b': ['1'] }],
  ['/', '/', {}],
])('the request target %s becomes the path %s with the query', async (target, path, query) => {
  const seen: unknown[] = []
  const { url } = await listening(async (request) => {
    seen.push({ path: request.path, query: Object.fromEntries(request.query) })
    return { status: 200 }
  })
  await received(url, 'GET', target)
  expect(seen).toEqual([{ path, query }])
})

test('A connection that cannot be accepted is logged once, and others work', async () => {
  const reported = vi.spyOn(console, 'error').mockReturnValue()
  const { url, server } = await listening(async () => ({ status: 200 }))
  const shortage = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' })
  for (let turn = 0; turn < 1_000; turn++) server.emit('error', shortage)
  expect(reported).toHaveBeenCalledTimes(1)
  expect((await fetch(url)).status).toBe(200)
})
