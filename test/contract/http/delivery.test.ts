import { Readable } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { unlimited } from '../../../lib/core/time.ts'
import { createHandler } from '../../../lib/http/handler.ts'
import { type CallerOperation, operationsOn } from '../../../lib/http/operation.ts'
import { done, ok } from '../../../lib/http/reply.ts'
import { bareEdge, bareHandler, textReply } from '../../support/bare-handler.ts'
import { requestOf, send } from '../../support/gateway.ts'

const request = requestOf('GET', '/', { requestId: 'request-1' })
const body = { code: 100500, message: expect.any(String), requestId: 'request-1' }

test('a value that cannot be written as JSON answers 500, and is logged once (E-15)', async () => {
  const failure = new Error('cannot be written')
  const value = {
    toJSON() {
      throw failure
    },
  }
  const { handler, records } = bareHandler(async () => ok({ value }))
  const answer = await send(handler, 'GET', '/', { requestId: 'request-1' })
  expect({ status: answer.status, body: answer.json }).toEqual({ status: 500, body })
  expect(records).toEqual([expect.objectContaining({ operation: 'GET', path: '/', status: 500, error: failure })])
})

test('an answer that cannot be sent becomes a 500, also in the log (E-15)', async () => {
  const failure = new Error('cannot be sent')
  const { handler, records } = bareHandler(async () => done)
  const { answer, record } = (await handler(request, unlimited)).withError(failure)
  expect(answer.status).toBe(500)
  record({})
  expect(records).toEqual([expect.objectContaining({ status: 500, error: failure })])
})

test('the log names the first failure if the error answer fails too (E-15)', async () => {
  const failure = new Error('the operation failed')
  const { handler, records } = bareHandler(() => Promise.reject(failure))
  const { record } = (await handler(request, unlimited)).withError(new Error('cannot be sent'))
  record({})
  expect(records).toEqual([expect.objectContaining({ status: 500, error: failure })])
})

test('the stream of an answer that cannot be sent is destroyed', async () => {
  const stream = Readable.from(['x'])
  const { handler } = bareHandler(async () => textReply(1, stream))
  const { withError } = await handler(request, unlimited)
  withError(new Error('cannot be sent'))
  expect(stream.destroyed).toBe(true)
})

test('an answer that breaks off is logged with its status and the failure', async () => {
  const failure = new Error('broke off')
  const { handler, records } = bareHandler(async () => done)
  const { record } = await handler(request, unlimited)
  record({ cut: failure })
  expect(records).toEqual([expect.objectContaining({ status: 200, error: failure })])
})

const edge = bareEdge(() => {
  throw new Error('no room in the log')
})

test('a failing log does not delay the answer', async () => {
  vi.spyOn(console, 'error').mockReturnValue()
  expect((await send(createHandler('fields', [], {}, { edge }), 'GET', '/')).status).toBe(404)
})

test('the types refuse an operation that needs more than its route checks', () => {
  const route = { operation: 'read', method: 'GET', path: '/', group: 'fields' } as const
  const open = { ...route, public: true } as const
  const ofSite = operationsOn()({ params: () => ({}) }, async () => done)
  const ofCaller: CallerOperation = async () => done
  // @ts-expect-error: a public route has no caller.
  createHandler('fields', [open], { read: ofCaller }, { edge })
  // @ts-expect-error: a route without a right has no site.
  createHandler('fields', [route], { read: ofSite }, { edge })
  expect(createHandler('fields', [{ ...route, right: 'forms:read' }], { read: ofSite }, { edge })).toBeDefined()
})
