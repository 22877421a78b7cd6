import type { StorageDeps } from '../../lib/deps.ts'
import { operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import { restore } from '../../lib/storage/restore.ts'
import type { Answer } from '../contract.ts'
import type { success } from './contract-schemas.ts'
import { pathOf, requesterOf } from './params.ts'

/** POST with `?restore`: brings back a file or a folder (decisions.md, section 10). 200 with the status. */
export const restorePath = (deps: StorageDeps) =>
  operation(
    {
      params: pathOf,
      body: { schema: async () => (await import('./switches.ts')).restoreBody, malformed: 'storageRefused' },
    },
    async (input) => {
      await restore(deps, input.site.id, input.params.path, input.body, requesterOf(input))
      const value: Answer<typeof success> = { status: 'success' }
      return ok({ value })
    },
  )
