import { test } from 'vitest'
import { target } from '../setup/target.ts'

/** The issuers of these cases run in the test process, so the service must be on the same machine. */
export const mayReachIssuers = target.admin !== null && new URL(target.baseUrl).hostname === '127.0.0.1'

export const testWithIssuer = test.skipIf(!mayReachIssuers)
