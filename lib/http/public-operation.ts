import type { Caller } from '../access/callers.ts'
import type { RoutedRequest } from './operation.ts'
import type { Reply } from './reply.ts'

// Operations without a site and without a body. This file is separate from `operation.ts`: a function that has only
// these operations then does not bundle the body readers. An operation that needs a caller accepts any valid token, in
// every data centre.

export interface PublicOperation {
  readonly public: true
  readonly run: (request: RoutedRequest) => Promise<Reply>
}

export interface CallerOperation {
  readonly ofCaller: true
  readonly run: (request: RoutedRequest & { readonly caller: Caller }) => Promise<Reply>
}

export const publicOperation = (run: PublicOperation['run']): PublicOperation => ({ public: true, run })

export const callerOperation = (run: CallerOperation['run']): CallerOperation => ({ ofCaller: true, run })
