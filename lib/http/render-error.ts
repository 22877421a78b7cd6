import { ServiceError } from '../core/errors.ts'
import type { DocumentReply, XmlDocument } from './reply.ts'

/** What a caller is told to wait after 429 and 503, in seconds. */
const retryAfter = '1'

/** The error that the caller sees. What is not ours is named "unexpected", and its details stay in the log. */
export const asServiceError = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError('unexpected', { cause: error })

/** One body for every error (decisions.md, section 2). */
export const errorReply = (
  { code, status, message, problems, headers }: ServiceError,
  requestId: string,
): DocumentReply & { readonly document: XmlDocument } => ({
  status,
  headers: { 'Cache-Control': 'no-store', ...(status === 503 && { 'Retry-After': retryAfter }), ...headers },
  document: {
    value: {
      code,
      message,
      requestId,
      ...(problems.length > 0 && { errors: problems.map(({ path, message }) => ({ path, message })) }),
    },
    xml: { root: 'error' },
  },
})
