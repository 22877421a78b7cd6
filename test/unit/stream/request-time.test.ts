import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { createDeadlineFor } from '../../../functions/entries/stream/stream-server.ts'

/** A request with these headers, and a clock that the test sets, in seconds. */
const arriving = (headers: Readonly<Record<string, string>>) => {
  let now = 5_000
  const message = Object.assign(new IncomingMessage(new Socket()), { headers: { ...headers } })
  const left = createDeadlineFor(() => now)(message).timeLeft
  return {
    message,
    left: () => left() / 1000,
    wait: (seconds: number) => {
      now += seconds * 1000
    },
  }
}

it('a request without a body has a minute, as long as the distribution waits', () => {
  const { left, wait } = arriving({})
  expect(left()).toBe(58)
  wait(30)
  expect(left()).toBe(28)
})

it.each([
  ['of a declared length', { 'content-length': '5' }],
  ['in chunks', { 'transfer-encoding': 'chunked' }],
])('a request whose body %s still arrives has the time that Lambda allows', (_, headers) => {
  const { message, left, wait } = arriving(headers)
  wait(600)
  expect(left()).toBe(298)
  message.emit('end')
  expect(left()).toBe(58)
  wait(60)
  expect(left()).toBe(-2)
})

it('a request never has more time than Lambda allows, however late its body ends', () => {
  const { message, left, wait } = arriving({ 'content-length': '5' })
  wait(880)
  message.emit('end')
  expect(left()).toBe(18)
})
