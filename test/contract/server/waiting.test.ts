import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { done, type Reply, text } from '../../../lib/http/reply.ts'
import { createWaitingAnswers } from '../../../server/slow-callers.ts'
import { inPieces } from '../../support/in-pieces.ts'
import { lastAnswer } from '../../support/raw-http.ts'
import { listening } from './listening.ts'
import { slowReader } from './slow-reader.ts'

const size = 16 * 1024 * 1024
const long = 'x'.repeat(size)
const longText = (): Reply => text('text/plain', long)
const longBytes = (bytes: Uint8Array | Readable): Reply => ({
  status: 200,
  content: { type: 'a/b', length: size, bytes },
})

/** A server that can keep one long text waiting in memory, and its clock. */
const withRoomForOne = async (run: () => Promise<Reply> = async () => longText()) => {
  const clock = { now: 0 }
  const waiting = createWaitingAnswers(1.5 * size, () => clock.now)
  return { clock, ...(await listening(run, { front: { waiting } })) }
}

test.each([
  ['a text', longText],
  ['a text beyond ASCII', () => text('text/plain', 'ü'.repeat(size / 2))],
  ['bytes', () => longBytes(Buffer.from(long))],
  ['a stream', () => longBytes(Readable.from(inPieces(Buffer.from(long), 65_536)))],
])('A slow reader of %s gets the whole answer, with 64 KiB of memory', async (_, reply) => {
  const { server } = await listening(async () => reply())
  const reader = await slowReader(server)
  await reader.stalls()
  // The head of the answer waits, too.
  expect(reader.served.writableLength).toBeLessThanOrEqual(64 * 1024 + 2048)
  expect(lastAnswer(await reader.readsAll()).body).toHaveLength(size)
})

test('an answer over the limit is 100503, until a reader disconnects (O-21)', async () => {
  const { server, url } = await withRoomForOne()
  const reader = await slowReader(server)
  await reader.stalls()
  const refused = await fetch(url)
  expect(refused.status).toBe(503)
  expect(refused.headers.get('Retry-After')).toBe('1')
  expect(await refused.json()).toMatchObject({ code: 100503 })
  reader.leaves()
  await expect.poll(async () => (await (await fetch(url)).text()).length).toBe(size)
})

test('small answers and answers to changes are sent, however many bytes wait', async () => {
  let reply = longText()
  const { server, url } = await withRoomForOne(async () => reply)
  await (await slowReader(server)).stalls()
  expect(await (await fetch(url, { method: 'POST' })).text()).toHaveLength(size)
  expect((await fetch(url, { method: 'HEAD' })).status).toBe(200)
  reply = done
  expect((await fetch(url)).status).toBe(200)
})

test('a reader that is idle for ten seconds is cut off, an active one is not', async () => {
  const { server, url, clock } = await withRoomForOne()
  const idle = await slowReader(server)
  await idle.stalls()
  clock.now = 9_999
  expect((await fetch(url)).status).toBe(503)
  clock.now = 10_000
  const reader = await slowReader(server)
  await reader.stalls()
  expect(idle.served.destroyed).toBe(true)

  clock.now = 15_000
  await reader.readsSome()
  await reader.stalls()
  clock.now = 24_999
  expect((await fetch(url)).status).toBe(503)
  expect(lastAnswer(await reader.readsAll()).body).toHaveLength(size)
})

test('an answer to a caller that has disconnected needs no memory', async () => {
  const replies = Promise.withResolvers<Reply>()
  const { server, url, records } = await withRoomForOne(() => replies.promise)
  const gone = await slowReader(server)
  gone.leaves()
  await expect.poll(() => gone.served.destroyed).toBe(true)
  replies.resolve(longText())
  await expect.poll(() => records).toHaveLength(1)
  expect(await (await fetch(url)).text()).toHaveLength(size)
})
