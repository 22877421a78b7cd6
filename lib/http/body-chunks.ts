import { type ErrorName, ServiceError } from '../errors.ts'
import type { RequestBody } from './request.ts'

/**
 * A request body piece by piece, at the pace of whoever reads it. When that one stops early the stream stays open: who owns it decides
 * what becomes of the rest. Errors: `broken` when the caller goes away before the end.
 */
export async function* bodyChunks(body: RequestBody, broken: ErrorName): AsyncGenerator<Uint8Array, void> {
  if ('bytes' in body) {
    if (body.bytes.length > 0) yield body.bytes
    return
  }
  try {
    yield* body.stream.iterator({ destroyOnReturn: false })
  } catch (cause) {
    throw new ServiceError(broken, { message: 'The request body breaks off before its end.', cause })
  }
}
