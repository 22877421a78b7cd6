import { publicOperation } from '../../lib/http/public-operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { Answer } from '../contract.ts'
import type { health } from './contract.ts'

/** Tells that the service answers; for load balancers and people, without a token (decisions.md, section 8). */
export const getHealth = publicOperation(async () => ok<Answer<typeof health>>({ value: { status: 'ok' } }))
