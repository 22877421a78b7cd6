import type { Answer } from '../../lib/contract/contract.ts'
import type { deleting } from '../../lib/contract/storage/contract-schemas.ts'
import { operation } from '../../lib/http/operation.ts'
import { done } from '../../lib/http/reply.ts'
import type { Switches } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { remove } from '../../lib/storage/remove.ts'
import { deletedPathOf, readSwitches, requesterOf } from './params.ts'

const bothInOne = /^draft\?force=(true|false)$/

const optionsOf = async (query: Switches) => {
  const [, swallowed] = bothInOne.exec(query.get('version') ?? '') ?? []
  const given =
    swallowed === undefined
      ? { version: query.get('version'), force: query.get('force') }
      : { version: 'draft', force: swallowed }
  const { version, force: forced } = await readSwitches(
    given,
    async () => (await import('../../lib/contract/storage/switches.ts')).deleteSwitches,
  )
  return { draftOnly: version === 'draft', withContents: forced !== 'false' }
}

/**
 * Operation 14: deletes a file, a draft or a folder. 200 when it is gone; 202 when the rest of a large folder goes on
 * without the caller.
 */
export const deletePath = (deps: StorageDeps) =>
  operation({ params: deletedPathOf, query: optionsOf }, async (input) => {
    const { site, params, query } = input
    const outcome = await remove(deps, site.id, params.path, { ...query, ...requesterOf(input) })
    if (outcome === 'removed') return done
    const value: Answer<typeof deleting> = { status: 'deleting' }
    return { status: 202, document: { value } }
  })
