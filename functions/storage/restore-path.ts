import type { Answer } from '../../lib/contract/contract.ts'
import type { success } from '../../lib/contract/storage/contract-schemas.ts'
import { operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { restore } from '../../lib/storage/restore.ts'
import { pathOf, requesterOf } from './params.ts'

export const restorePath = (deps: StorageDeps) =>
  operation(
    {
      params: pathOf,
      body: {
        schema: async () => (await import('../../lib/contract/storage/switches.ts')).restoreBody,
        malformed: 'storageRefused',
      },
    },
    async (input) => {
      await restore(deps, input.site.id, input.params.path, input.body, requesterOf(input))
      const value: Answer<typeof success> = { status: 'success' }
      return ok({ value })
    },
  )
