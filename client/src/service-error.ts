import type { Problem } from './generated/types.gen.ts'

interface Failure {
  readonly status: number
  readonly code: number
  readonly message: string
  readonly requestId?: string | undefined
  readonly errors?: readonly Problem[] | undefined
  readonly path?: string | undefined
  readonly retryAfter?: number | undefined
}

/**
 * Every failure of the service and of the network. `status` is the HTTP status, and `code` the error code
 * (docs/errors.md); without an answer, both are 0. `message` says what to do, `errors` lists each fault, and
 * `requestId` identifies the request in the log of the service. `path` is the file or folder of the request, if it had
 * one. `retryAfter` is the number of seconds to wait before the next attempt, if the service named it.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly status: number
  readonly code: number
  readonly requestId: string
  readonly errors: readonly Problem[]
  readonly path: string | undefined
  readonly retryAfter: number | undefined

  constructor(
    { status, code, message, requestId = '', errors = [], path, retryAfter }: Failure,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.status = status
    this.code = code
    this.requestId = requestId
    this.errors = errors
    this.path = path
    this.retryAfter = retryAfter
  }
}

export const refusal = (status: number, code: number, message: string): ServiceError =>
  new ServiceError({ status, code, message })

export const hasStatus = (error: unknown, ...statuses: readonly number[]): error is ServiceError =>
  error instanceof ServiceError && statuses.includes(error.status)

/** The token or a right is missing. Storage has codes of its own with the status 400. Repeating does not help. */
export const isAccessRefusal = (error: unknown): error is ServiceError =>
  hasStatus(error, 401, 403) || (error instanceof ServiceError && [104003, 104023].includes(error.code))

/** Only the service sends this code. A 404 of another server has no code. */
export const isMissing = (error: unknown): boolean => error instanceof ServiceError && error.code === 104001

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const isProblem = (value: unknown): value is Problem =>
  isRecord(value) && typeof value['path'] === 'string' && typeof value['message'] === 'string'

const parse = (text: string) => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const unexpectedAnswer = ({ status }: Response, host: string, requestId = ''): ServiceError =>
  new ServiceError({
    status,
    code: status,
    message:
      `${host} answered with status ${status}, but the answer does not come from this service. ` +
      'Check the address and any proxy in between.',
    requestId,
  })

export const isList = <Each>(value: readonly Each[] | undefined, isOne: (each: Each) => unknown = Boolean): boolean =>
  Array.isArray(value) && value.every(isOne)

/**
 * Reads the JSON object of an answer. An empty answer counts as an empty object. Errors: a `ServiceError` if another
 * server has answered.
 */
export const answerOf = async <Answer extends object>(
  isRight: (answer: Partial<Answer>) => unknown,
  response: Response,
  host: string,
): Promise<Answer> => {
  const answer: Answer | undefined = parse((await response.text()) || '{}')
  if (answer && isRight(answer)) return answer
  throw unexpectedAnswer(response, host)
}

// In milliseconds. The header contains seconds or a date (RFC 9110, section 10.2.3).
export const retryAfter = (headers: Headers): number => {
  const value = headers.get('Retry-After') ?? ''
  const wait = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(wait) ? 0 : Math.max(0, wait)
}

export const failureOf = async (response: Response, host: string): Promise<ServiceError> => {
  const { status, headers } = response
  const body = parse(await response.text())
  const { code, message, requestId, errors } = isRecord(body) ? body : {}
  const id = typeof requestId === 'string' ? requestId : (headers.get('X-Request-Id') ?? '')
  if (typeof code !== 'number' || typeof message !== 'string') return unexpectedAnswer(response, host, id)
  return new ServiceError({
    status,
    code,
    message,
    requestId: id,
    errors: Array.isArray(errors) ? errors.filter(isProblem) : [],
    retryAfter: Math.ceil(retryAfter(headers) / 1000) || undefined,
  })
}
