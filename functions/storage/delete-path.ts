import type { StorageDeps } from '../../lib/deps.ts'
import { ServiceError } from '../../lib/errors.ts'
import type { Exchange } from '../../lib/http/exchange.ts'
import { operation } from '../../lib/http/operation.ts'
import { done } from '../../lib/http/reply.ts'
import { remove } from '../../lib/storage/remove.ts'
import { deletedPathOf, queryValue } from './params.ts'

/** How long a removal may keep its caller waiting, and what is kept of the request's time for the answer; in milliseconds. */
const patience = 20_000
const timeToAnswer = 3_000

/** One client library writes a second question mark where an ampersand belongs. */
const bothInOne = /^draft\?force=(true|false)$/

const refused = (message: string) => new ServiceError('storageRefused', { message })

/** The two parameters of operation 14. Errors: storageRefused for any other value. */
const optionsOf = (query: Exchange['query']) => {
  const [, swallowed] = bothInOne.exec(queryValue(query, 'version') ?? '') ?? []
  const version = swallowed === undefined ? queryValue(query, 'version') : 'draft'
  const force = swallowed ?? queryValue(query, 'force')
  if (version !== undefined && version !== 'draft') throw refused('version is draft, or is left out.')
  if (force !== undefined && force !== 'true' && force !== 'false') throw refused('force is true or false.')
  return { draftOnly: version === 'draft', withContents: force !== 'false' }
}

/** Operation 14: deletes a file, a draft or a folder. 200 when it is gone; 202 when the rest of a large folder goes on without the caller. */
export const deletePath = (deps: StorageDeps) =>
  operation({ params: deletedPathOf, query: optionsOf }, async ({ site, params, query, remainingTime }) => {
    const options = { ...query, patience: Math.min(patience, remainingTime() - timeToAnswer) }
    const outcome = await remove(deps, site.id, params.path, options)
    if (outcome === 'removed') return done
    return { status: 202, document: { value: { status: 'deleting' } } }
  })
