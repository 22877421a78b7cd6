import type { Answer } from '../../lib/contract/contract.ts'
import type { health } from '../../lib/contract/fields/contract.ts'
import { publicOperation } from '../../lib/http/public-operation.ts'
import { ok } from '../../lib/http/reply.ts'

/** Tells that the service answers; for load balancers and people, without a token (decisions.md, section 8). */
export const getHealth = publicOperation(async () => ok<Answer<typeof health>>({ value: { status: 'ok' } }))
