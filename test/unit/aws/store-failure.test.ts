import { describe, expect, test } from 'vitest'
import { isStoreUnavailable } from '../../../lib/aws/store-failure.ts'

const failure = (name: string, details: object = {}) => Object.assign(new Error(name), { name }, details)

describe('a failure of the store', () => {
  test.each([
    failure('ProvisionedThroughputExceededException'),
    failure('ThrottlingException'),
    failure('RequestLimitExceeded'),
    failure('TimeoutError'),
    failure('Error', { code: 'ECONNRESET' }),
    failure('Error', { code: 'ECONNREFUSED' }),
    failure('InternalServerError', { $metadata: { httpStatusCode: 500 } }),
    failure('ServiceUnavailable', { $metadata: { httpStatusCode: 503 } }),
    failure('InsufficientStorage', { $metadata: { httpStatusCode: 507 } }),
  ])('passes when it is $name $code', (error) => {
    expect(isStoreUnavailable(error)).toBe(true)
  })

  test.each([
    failure('ResourceNotFoundException', { $metadata: { httpStatusCode: 400 } }),
    failure('AccessDeniedException', { $metadata: { httpStatusCode: 400 } }),
    failure('ValidationException', { $metadata: { httpStatusCode: 400 } }),
    new TypeError('x is not a function'),
    'a text',
    undefined,
  ])('does not pass when it is %s', (error) => {
    expect(isStoreUnavailable(error)).toBe(false)
  })
})
