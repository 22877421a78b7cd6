import { expect, test } from 'vitest'
import { done, type Reply } from '../../../lib/http/reply.ts'
import type { Closing } from '../../../server/server.ts'
import { lastAnswer, rawConnection, requestText } from '../../support/raw-http.ts'
import { listening } from './listening.ts'

/** A server with this many running requests, each on its own connection. `go` lets the requests end. */
const busy = async (requests: number, patience: number) => {
  const go = Promise.withResolvers<Reply>()
  let begun = 0
  const run = () => {
    begun += 1
    return go.promise
  }
  const { url, close } = await listening(run, { patience })
  const connections = await Promise.all(Array.from({ length: requests }, () => rawConnection({ url })))
  for (const connection of connections) await connection.write(requestText('GET', '/'))
  await expect.poll(() => begun).toBe(requests)
  const reported: Closing[] = []
  return { url, connections, reported, go, close: () => close((closing) => void reported.push(closing)) }
}

test('closing ends idle connections, logs the number of running requests and waits', async () => {
  const { url, connections, reported, go, close } = await busy(3, 60_000)
  const unused = await rawConnection({ url })
  const closed = close()
  expect(reported).toEqual([{ waitingFor: 3 }])
  expect(await unused.rest()).toBe('')
  go.resolve(done)
  for (const connection of connections) expect(lastAnswer(await connection.rest()).status).toBe(200)
  await closed
  expect(reported).toEqual([{ waitingFor: 3 }])
})

test('the number of requests that closing cut off is logged', async () => {
  const { connections, reported, close } = await busy(2, 1)
  await close()
  expect(reported).toEqual([{ waitingFor: 2 }, { cutOff: 2 }])
  for (const connection of connections) expect(await connection.rest()).toBe('')
})

test('nothing is logged when no request is running', async () => {
  const { reported, close, go, connections } = await busy(1, 60_000)
  go.resolve(done)
  await connections[0]?.until(/200 OK/)
  await close()
  expect(reported).toEqual([])
})
