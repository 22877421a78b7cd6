import type { Grant } from '../access/grants.ts'
import type { OperationHandler, RoutedRequest } from './operation.ts'
import type { PublicOperation } from './public-operation.ts'
import type { Reply } from './reply.ts'

/** An operation that any token may call, in every data centre: its path names no site. It takes no body. */
export interface CallerOperation {
  readonly ofCaller: true
  readonly run: (request: RoutedRequest & { readonly caller: Grant }) => Promise<Reply>
}

export const callerOperation = (run: CallerOperation['run']): CallerOperation => ({ ofCaller: true, run })

export const isOfCaller = (
  operation: OperationHandler | PublicOperation | CallerOperation,
): operation is CallerOperation => 'ofCaller' in operation
