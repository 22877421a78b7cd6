import type { RoutedRequest } from './operation.ts'
import type { Reply } from './reply.ts'

/**
 * An operation that anybody may call, without a token; its route says `public`. It takes no body, and stands apart from `operation.ts` so
 * that the bundle of a function with no others does not hold what reads one.
 */
export interface PublicOperation {
  readonly public: true
  readonly run: (request: RoutedRequest) => Promise<Reply>
}

export const publicOperation = (run: PublicOperation['run']): PublicOperation => ({ public: true, run })

export const isPublic = <Other extends object>(operation: Other | PublicOperation): operation is PublicOperation =>
  'public' in operation
