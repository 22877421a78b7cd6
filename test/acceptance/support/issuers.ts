import { describe, test } from 'vitest'
import { target } from '../setup/target.ts'

/** The service must reach an issuer in the process of the tests. */
export const mayReachIssuers = target.admin !== null && new URL(target.baseUrl).hostname === '127.0.0.1'

export const describeWithIssuer = describe.skipIf(!mayReachIssuers)
export const testWithIssuer = test.skipIf(!mayReachIssuers)
