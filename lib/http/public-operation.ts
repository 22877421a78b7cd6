import type { Caller } from '../access/callers.ts'
import type { RoutedRequest } from './operation.ts'
import type { Reply } from './reply.ts'

// Operations without a site and without a body. This file is separate from `operation.ts`: a function that has only
// these operations then does not bundle the body readers. An operation that needs a caller accepts any valid token, in
// every data centre.

export interface PublicOperation<Deps = unknown> {
  readonly kind: 'public'
  readonly run: (request: RoutedRequest, deps: Deps) => Promise<Reply>
}

export interface CallerOperation<Deps = unknown> {
  readonly kind: 'caller'
  readonly run: (request: RoutedRequest & { readonly caller: Caller }, deps: Deps) => Promise<Reply>
}

export const publicOperation = <Deps>(run: PublicOperation<Deps>['run']): PublicOperation<Deps> => ({
  kind: 'public',
  run,
})

export const callerOperation = <Deps>(run: CallerOperation<Deps>['run']): CallerOperation<Deps> => ({
  kind: 'caller',
  run,
})
