import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { fields } from '../../../support/paths.ts'
import { lastAnswer, rawConnection, requestText, sendText } from '../../../support/raw-http.ts'
import { test } from '../../../support/test.ts'

const field = `${fields}/-2`

/** The body of every error (E-1). */
const errorBody = { code: expect.any(Number), message: expect.stringMatching(/\.$/), requestId: expect.any(String) }

const get = 'GET /health HTTP/1.1\r\nHost: x\r\n'
const put = `PUT ${field} HTTP/1.1\r\nHost: x\r\n`
test.for([
  ['garbage', 400, 'hello, is anybody there?\r\n\r\n'],
  ['bytes of another protocol', 400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['another version of HTTP', 400, 'GET /health HTTP/9.9\r\nHost: x\r\n\r\n'],
  ['a malformed header', 400, `${get}no colon\r\n\r\n`],
  ['headers over 16 KB', 431, `${get}X-Long: ${'x'.repeat(17 * 1024)}\r\n\r\n`],
  ['a path over 16 KB', 431, `GET /${'x'.repeat(17 * 1024)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ['headers that break off', 400, `${get}Accep`],
  ['two different lengths', 400, `${put}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`],
  ['a length beside chunks', 400, `${put}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a tunnel', 400, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\nhello'],
  ['a tunnel to a path of the service', 400, 'CONNECT /health HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['an unknown expectation', 417, `${get}Expect: a miracle\r\n\r\n`],
] as const)('Any origin can read the error for %s, in JSON (A-31)', async ([what, status, text], { service }) => {
  const answer = lastAnswer(await sendText(service.baseUrl, text, what.endsWith('break off')))
  expect(answer.status).toBe(status)
  expect(answer.headers['content-type']).toMatch(/^application\/json/)
  expect(answer.headers['access-control-allow-origin']).toBe('*')
  expect(answer.headers['content-length']).toBe(String(answer.body.length))
  expect(JSON.parse(answer.body)).toEqual(errorBody)
  expect((await service.request(fields)).status).toBe(200)
})

test('CONNECT is refused and closed, even if the caller resets the connection', async ({ start }) => {
  const tunnel = 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'
  const service = await start()
  const { hostname: host, port } = new URL(service.baseUrl)
  const sendTunnel = async (): Promise<Socket> => {
    const socket = connect({ host, port: Number(port), allowHalfOpen: true })
    await once(socket, 'connect')
    await new Promise((resolve) => socket.write(tunnel, resolve))
    return socket
  }
  for (let round = 0; round < 50; round++) (await sendTunnel()).resetAndDestroy()
  await sendText(service.baseUrl, requestText('GET', '/health') + tunnel)
  expect((await service.request('/health')).status).toBe(200)
  const open = await sendTunnel()
  expect(lastAnswer(await text(open)).status).toBe(400)
  expect(await service.stop()).toMatchObject({ status: 0, stderr: expect.not.stringMatching(/Error|could not/) })
  open.destroy()
})

const head = (token: string) =>
  requestText('PUT', field, { Authorization: token, 'Content-Length': 100, Expect: '100-continue' })

test('a caller who still listens gets an answer, and nothing changes', async ({ service }) => {
  const before = await (await service.request(field)).json()
  const connection = await rawConnection({ url: service.baseUrl })
  await connection.write(head(service.token))
  await connection.until(/100 Continue/)
  await connection.write('{"mandatory":false,"order":50}')
  connection.end()
  const answer = lastAnswer(await connection.rest())
  expect(answer.status).toBe(400)
  expect(JSON.parse(answer.body)).toEqual(errorBody)
  expect(await (await service.request(field)).json()).toEqual(before)
})

test('an incomplete body is not logged as a fault of the service', async ({ start }) => {
  const service = await start()
  const connection = await rawConnection({ url: service.baseUrl })
  await connection.write(head(service.token))
  await connection.until(/100 Continue/)
  connection.destroy()
  await service.request(fields)
  const { stderr } = await service.stop()
  expect(stderr).not.toMatch(/ 5\d\d (?!ms)|failed|Error/)
})

test('a refused body after 100 Continue does not end the service', async ({ start }) => {
  const service = await start()
  const headers = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked', Expect: '100-continue' }
  const sendTooMuch = async () => {
    const connection = await rawConnection({ url: service.baseUrl })
    await connection.write(requestText('POST', '/api/v2/admin/tokens', headers))
    await connection.until(/100 Continue/)
    await connection.write(`14000\r\n${' '.repeat(0x14000)}\r\n`)
    await connection.until(/HTTP\/1\.1 413 /)
    return connection
  }
  const [left, waiting] = [await sendTooMuch(), await sendTooMuch()]
  left.destroy()
  await waiting.rest()
  expect((await service.request('/health')).status).toBe(200)
  expect(await service.stop()).toMatchObject({ status: 0 })
})

test('a body with malformed chunks is refused with an answer', async ({ service }) => {
  const text = requestText('PUT', field, { Authorization: service.token, 'Transfer-Encoding': 'chunked' }, 'zz\r\n')
  const received = await sendText(service.baseUrl, text)
  expect(received.match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
  expect(lastAnswer(received).status).toBe(400)
  expect(JSON.parse(lastAnswer(received).body)).toEqual(errorBody)
})

test.for([
  ['without a token', field, { Authorization: 'none' }, 401],
  ['of another site', field.replace('current', '7'), {}, 400],
  ['that is too large', field, { 'Content-Length': 65 * 1024 }, 413],
] as const)('the service does not answer 100 for a body %s', async ([, path, headers, status], { service }) => {
  const common = { Authorization: service.token, 'Content-Length': 20, Expect: '100-continue' }
  const received = await sendText(service.baseUrl, requestText('PUT', path, { ...common, ...headers }))
  expect(received).not.toContain('100 Continue')
  expect(lastAnswer(received).status).toBe(status)
  expect(JSON.parse(lastAnswer(received).body)).toEqual(errorBody)
})

test('a query that repeats a parameter thousands of times needs no extra memory', async ({ start }) => {
  const service = await start(['--port', '0'], { NODE_OPTIONS: '--max-old-space-size=128' })
  const answer = await service.request(`/health?${'a&'.repeat(7_500)}`)
  expect(answer.status).toBe(200)
})
