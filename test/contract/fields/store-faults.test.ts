import { afterAll, describe, expect, test } from 'vitest'
import type { SystemField } from '../../../lib/fields/web-forms.ts'
import { openFieldsService } from '../../support/fields-service.ts'
import { send } from '../../support/gateway.ts'
import { failOnce, watchCalls } from '../../support/store-faults.ts'

const service = await openFieldsService()
const authorization = { Authorization: await service.issueToken() }
afterAll(() => service.close())

const before: readonly SystemField[] = [
  { typeId: -2, mandatory: true, order: 1 },
  { typeId: -3, mandatory: false, order: 2 },
]
const [first, second] = before

interface Case {
  readonly method: string
  readonly below: string
  readonly body?: object
  readonly status: number
  readonly after: readonly (SystemField | undefined)[]
  /** The status of a repeated request if the first one succeeded, but lost its answer. */
  readonly again: number
}

const operations: Readonly<Record<string, Case>> = {
  list: { method: 'GET', below: '', status: 200, after: before, again: 200 },
  read: { method: 'GET', below: '/-2', status: 200, after: before, again: 200 },
  create: {
    method: 'POST',
    below: '',
    body: { type: { id: -4 }, mandatory: true },
    status: 201,
    after: [...before, { typeId: -4, mandatory: true, order: 3 }],
    again: 403,
  },
  update: {
    method: 'PUT',
    below: '/-3',
    body: { mandatory: true, order: 1 },
    status: 200,
    after: [
      { typeId: -3, mandatory: true, order: 1 },
      { typeId: -2, mandatory: true, order: 2 },
    ],
    again: 200,
  },
  remove: { method: 'DELETE', below: '/-2', status: 200, after: [second], again: 404 },
}

/** The calls of a request with cold caches: reads of token, site, data centre and form, and the write of a change. */
const callsOf = ({ method }: Case) => (method === 'GET' ? 4 : 5)

// aws/store-failure.test.ts has the other failures.
const failure = 'throttled'
const cases = Object.entries(operations).flatMap(([name, operation]) =>
  Array.from({ length: callsOf(operation) }, (_, call) => ({ name, operation, failure, call }) as const),
)

const unavailable = { code: 100503, message: expect.any(String), requestId: expect.any(String) }

describe('A store that fails for a moment', () => {
  test.each(Object.entries(operations))(
    'Operation %s makes only the calls that the cases below let fail',
    async (_, operation) => {
      const { handler, dynamodb } = service.start()
      const path = await service.createForm(before)
      const calls = watchCalls(dynamodb)
      await send(handler, operation.method, path + operation.below, { headers: authorization, ...operation })
      expect(calls).toHaveLength(callsOf(operation))
    },
  )

  test.each(cases)('Operation $name answers 100503 if call $call $failure, and is repeatable (E-16)', async (each) => {
    const { method, below, status, after } = each.operation
    const { handler, dynamodb } = service.start()
    const path = await service.createForm(before)
    const request = { headers: authorization, ...each.operation }
    failOnce(dynamodb, each)

    const refused = await send(handler, method, path + below, request)
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    expect(refused.json).toEqual(unavailable)
    expect(await service.storedFields(path)).toEqual([first, second])

    expect((await send(handler, method, path + below, request)).status).toBe(status)
    expect(await service.storedFields(path)).toEqual(after)
  })

  const changes = Object.entries(operations).filter(([, { method }]) => method !== 'GET')

  test.each(changes)('Operation %s answers 100503 after a lost answer, and can safely be repeated', async (_, each) => {
    const { handler, dynamodb } = service.start()
    const path = await service.createForm(before)
    const request = { headers: authorization, ...each }
    failOnce(dynamodb, { call: 4, failure: 'timed out', afterwards: true })

    expect((await send(handler, each.method, path + each.below, request)).json).toEqual(unavailable)
    expect(await service.storedFields(path)).toEqual(each.after)

    expect((await send(handler, each.method, path + each.below, request)).status).toBe(each.again)
    expect(await service.storedFields(path)).toEqual(each.after)
  })
})
