import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { expect, test } from 'vitest'
import { failLikePort } from '../../../lib/aws/calls/client-calls.ts'

const failure = (name: string, details: object = {}) => Object.assign(new Error(name), { name }, details)

/** The error that a client of AWS throws when each attempt of a call has failed with `error`. */
const outcomeOf = async (error: unknown): Promise<unknown> => {
  const client = new DynamoDBClient({ region: 'local', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } })
  failLikePort(client)
  const fail = async () => {
    throw error
  }
  client.middlewareStack.add(() => fail, { step: 'initialize', name: 'fail' })
  return client.send(new ListTablesCommand({})).catch((thrown: unknown) => thrown)
}

test.each([
  failure('ProvisionedThroughputExceededException'),
  failure('ThrottlingException'),
  failure('RequestLimitExceeded'),
  failure('KmsThrottled', { $metadata: { httpStatusCode: 400 } }),
  failure('KMS.ThrottlingException', { $metadata: { httpStatusCode: 400 } }),
  failure('TimeoutError'),
  failure('AbortError'),
  failure('Error', { code: 'ECONNRESET' }),
  failure('Error', { code: 'ECONNREFUSED' }),
  failure('InternalServerError', { $metadata: { httpStatusCode: 500 } }),
  failure('ServiceUnavailable', { $metadata: { httpStatusCode: 503 } }),
  failure('InsufficientStorage', { $metadata: { httpStatusCode: 507 } }),
])('a temporary failure throws "unavailable" with its cause: $name $code', async (error) => {
  expect(await outcomeOf(error)).toMatchObject({ code: 100503, status: 503, cause: error })
})

test.each([
  failure('ResourceNotFoundException', { $metadata: { httpStatusCode: 400 } }),
  failure('AccessDeniedException', { $metadata: { httpStatusCode: 400 } }),
  failure('ValidationException', { $metadata: { httpStatusCode: 400 } }),
  new TypeError('x is not a function'),
  'a text',
])('a permanent failure is thrown unchanged: %s', async (error) => {
  expect(await outcomeOf(error)).toBe(error)
})
