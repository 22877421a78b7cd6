import { once } from 'node:events'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { done, type Reply } from '../../../lib/http/reply.ts'
import { textReply } from '../../support/bare-handler.ts'
import { makeCertificate } from '../../support/certificates.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { lastAnswer, rawConnection, requestText, sendText } from '../../support/raw-http.ts'
import { listening } from './listening.ts'

const last = requestText('GET', '/', { Connection: 'close' })

/** An operation of one turn of the event loop. It counts those that began, and the most that ran at once. */
const counted = () => {
  const count = { running: 0, most: 0, begun: 0 }
  const run = async (): Promise<Reply> => {
    count.running += 1
    count.begun += 1
    count.most = Math.max(count.most, count.running)
    await new Promise(setImmediate)
    count.running -= 1
    return done
  }
  return { count, run }
}

const answersIn = (received: string) => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)

test('the requests of a connection are answered one after the other', async () => {
  const { count, run } = counted()
  const { url } = await listening(run)
  expect(answersIn(await sendText(url, requestText('GET', '/').repeat(999) + last))).toHaveLength(1_000)
  expect(count).toMatchObject({ most: 1, begun: 1_000 })
})

test('a request begins only after the previous answer', async () => {
  const begun: string[] = []
  const first = Promise.withResolvers<Reply>()
  const { url } = await listening(async ({ query }) => {
    const name = query.get('name')?.[0] ?? ''
    begun.push(name)
    return name === 'first' ? first.promise : done
  })
  const connection = await rawConnection({ url })
  await connection.write(requestText('GET', '/?name=first') + requestText('GET', '/?name=second'))
  await expect.poll(() => begun).toEqual(['first'])
  await sendText(url, requestText('GET', '/?name=other', { Connection: 'close' }))
  expect(begun).toEqual(['first', 'other'])
  first.resolve(done)
  await connection.until(/HTTP\/1\.1 200.*HTTP\/1\.1 200/s)
  expect(begun).toEqual(['first', 'other', 'second'])
})

test.each(['HTTP', 'TLS'])('callers who end their side after a change get the answer over %s', async (protocol) => {
  const certificate = protocol === 'TLS' ? makeCertificate(scratchDirectory(), 'localhost') : undefined
  const { url } = await listening(counted().run, certificate ? { certificate } : {})
  const received = await sendText(url, requestText('POST', '/', { 'Content-Length': 5 }, 'hello').repeat(2), true)
  expect(answersIn(received)).toEqual(['200', '200'])
})

test('requests in a row may have bodies', async () => {
  const bodies: string[] = []
  const { url } = await listening(async ({ body }) => {
    bodies.push('stream' in body ? Buffer.concat(await body.stream.toArray()).toString() : '')
    return done
  })
  const large = 'x'.repeat(500_000)
  const post = (body: string) => requestText('POST', '/', { 'Content-Length': body.length }, body)
  const received = await sendText(url, post('a') + post('b') + post(large) + post('c') + last)
  expect(answersIn(received)).toHaveLength(5)
  expect(bodies).toEqual(['a', 'b', large, 'c', ''])
})

test('no request begins after an answer that closes the connection', async () => {
  const { count, run } = counted()
  const { url } = await listening(async () => ({ ...(await run()), headers: { Connection: 'close' } }))
  expect(answersIn(await sendText(url, requestText('GET', '/').repeat(10)))).toEqual(['200'])
  expect(count.begun).toBe(1)
})

test.each([
  ['400', 'a request without a host', 'GET / HTTP/1.1\r\n\r\n'],
  ['417', 'a request with an unknown expectation', requestText('GET', '/', { Expect: 'a miracle' })],
])('no request begins after the answer %s to %s', async (status, _, refused) => {
  const { count, run } = counted()
  const { url } = await listening(run)
  const received = await sendText(url, requestText('GET', '/') + refused + requestText('GET', '/').repeat(2))
  expect(answersIn(received)).toEqual(['200', status])
  expect(count.begun).toBe(1)
})

test('a malformed request is refused after the answers to the requests before it', async () => {
  const answer = Promise.withResolvers<Reply>()
  const { url, server } = await listening(() => answer.promise)
  const connection = await rawConnection({ url })
  const refused = once(server, 'clientError')
  await connection.write(`${requestText('GET', '/').repeat(2)}hello\r\n\r\n`)
  await refused
  await connection.write('hello again')
  answer.resolve(done)
  expect(answersIn(await connection.rest())).toEqual(['200', '200', '400'])
})

test.each(['zz\r\n', '2\r\nhello'])('the malformed chunk %j adds nothing to a begun answer', async (chunk) => {
  const stream = new Readable({ read: () => undefined })
  stream.push('he')
  const { url, server } = await listening(async () => textReply(500, stream))
  const connection = await rawConnection({ url })
  await connection.write(requestText('POST', '/', { 'Transfer-Encoding': 'chunked' }))
  await connection.until(/he$/)
  const refused = once(server, 'clientError')
  await connection.write(chunk)
  await refused
  expect(lastAnswer(await connection.rest())).toMatchObject({ status: 200, body: 'he' })
})
