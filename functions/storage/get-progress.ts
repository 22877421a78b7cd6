import type { StorageDeps } from '../../lib/deps.ts'
import { operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { Answer } from '../contract.ts'
import type { progress as progressAnswer } from './contract.ts'
import { pathOf } from './params.ts'

/** Operation 13: how far the token's newest upload is, in percent; 0 when it has never uploaded. */
export const getProgress = ({ progress }: StorageDeps) =>
  operation({ params: pathOf }, async ({ caller }) =>
    ok<Answer<typeof progressAnswer>>({ value: { percent: await progress.percentOf(caller.hash) } }),
  )
