export interface ErrorDescription {
  readonly name: string
  readonly message: string
  readonly stack?: string | undefined
  readonly cause?: ErrorDescription
}

/** The members of a log line for an error. */
export const describeError = (error: unknown): ErrorDescription =>
  error instanceof Error
    ? {
        name: error.name,
        message: error.message,
        stack: error.stack,
        ...(error.cause !== undefined && { cause: describeError(error.cause) }),
      }
    : { name: 'Error', message: String(error) }
