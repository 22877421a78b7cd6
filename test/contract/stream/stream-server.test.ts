import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { storage } from '../../support/paths.ts'
import { lastAnswer, requestText, sendText } from '../../support/raw-http.ts'
import { connectTo, former, fromDistribution, largestFile, openStream, present } from '../../support/stream-server.ts'

it.each([
  ['no secret', {}],
  ['a wrong secret', { 'X-Origin-Secret': 'x'.repeat(32) }],
  ['an empty secret', { 'X-Origin-Secret': '' }],
  ['both secrets at once', { 'X-Origin-Secret': `${present}, ${former}` }],
])('a caller with %s gets only 403', async (_, headers: Record<string, string>) => {
  const { url, token, records } = await openStream()
  for (const path of ['/health', storage, '/']) {
    const answer = await fetch(url + path, { headers: { Authorization: token, ...headers } })
    expect(answer.status).toBe(403)
    expect(await answer.json()).toEqual({ code: 403, message: expect.any(String), requestId: expect.any(String) })
  }
  expect(records).toEqual([])
})

it('an unknown caller gets 403 before the body is read', async () => {
  const { url } = await openStream()
  const received = await sendText(url, requestText('PUT', `${storage}/a`, { 'Content-Length': '1000' }, 'abc'))
  expect(lastAnswer(received)).toMatchObject({ status: 403, headers: { connection: 'close' } })
})

it.each([
  ['present', present],
  ['former', former],
])('a request with the %s secret of the distribution is accepted', async (_, secret) => {
  const { url, token } = await openStream()
  const headers = { Authorization: token, 'X-Origin-Secret': secret }
  expect((await fetch(url + storage, { headers })).status).toBe(400)
  const health = await fetch(`${url}/health`, { headers })
  expect({ status: health.status, body: await health.json() }).toEqual({ status: 200, body: { status: 'ok' } })
})

it('an answer is sent only after the body has arrived, and the connection stays open', async () => {
  const { url } = await openStream()
  const { socket, text } = await connectTo(url)
  socket.write(requestText('PUT', `${storage}/a.bin`, { ...fromDistribution, 'Content-Length': '10' }, '01234'))
  // An answer to another request shows that the function has received the first part of the body.
  expect((await fetch(`${url}/health`, { headers: fromDistribution })).status).toBe(200)
  expect(text()).toBe('')
  socket.write('56789')
  await expect.poll(text).toMatch(/101000/)
  expect(lastAnswer(text())).toMatchObject({ status: 401 })
  expect(lastAnswer(text()).headers).not.toMatchObject({ connection: 'close' })
  socket.write(requestText('GET', '/health', fromDistribution))
  await expect.poll(text).toMatch(/"status":"ok"/)
})

it('the service reads the whole refused body of a caller with a token', async () => {
  const { url, token } = await openStream()
  const headers = { ...fromDistribution, Authorization: token }
  const answer = await fetch(url + storage, { method: 'PUT', headers, body: Buffer.alloc(3 * 1024 * 1024) })
  expect([answer.status, answer.headers.get('connection')]).toEqual([400, 'keep-alive'])
})

it('a file of any size is stored and read in one request, without a bucket (S-106)', async () => {
  const { url, token } = await openStream()
  const content = randomBytes(5 * 1024 * 1024)
  const headers = { Authorization: token, ...fromDistribution }
  const stored = await fetch(`${url}${storage}/large.bin`, { method: 'PUT', headers, body: content })
  expect(stored.status).toBe(200)
  const read = await fetch(`${url}${storage}/large.bin`, { headers, redirect: 'error' })
  expect(Buffer.from(await read.arrayBuffer()).equals(content)).toBe(true)
  const body = Buffer.alloc(largestFile + 1)
  const tooLarge = await fetch(`${url}${storage}/larger.bin`, { method: 'PUT', headers, body })
  expect({ status: tooLarge.status, body: await tooLarge.json() }).toMatchObject({
    status: 400,
    body: { code: 104005, message: expect.stringContaining('resumable upload') },
  })
})
