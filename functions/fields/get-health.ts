import type { OperationHandler } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'

/** Tells that the service answers; for load balancers and people, without a token (decisions.md, section 8). */
export const getHealth: OperationHandler = async () => ok({ value: { status: 'ok' }, xml: { root: 'health' } })
