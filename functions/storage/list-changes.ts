import type { Answer } from '../../lib/contract/contract.ts'
import type { changePage } from '../../lib/contract/storage/contract-changes.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import {
  type ChangePage,
  changesAfter,
  idOfChange,
  newestChanges,
  newestWithin,
  positionIn,
  viewOfChange,
} from '../../lib/history/list-changes.ts'
import { noParams, operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { Switches } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { readSwitches, schemaOf } from './params.ts'

const usualLimit = 100

const positionOf = (after: string, site: SiteId): number => {
  const position = after === '' ? 0 : positionIn(after, site)
  if (position !== undefined) return position
  throw new ServiceError('storageRefused', {
    message:
      '"after" is not the id of a change of this site. Send such an id, or leave "after" empty to begin ' +
      'with the oldest change.',
  })
}

const newestPage: typeof newestChanges = async (...wanted) => {
  const page = await newestChanges(...wanted)
  return { ...page, changes: newestWithin(page.changes) }
}

const switchesOf = async (query: Switches) => ({
  ...(await readSwitches(query, ['limit', 'type', 'subject'], schemaOf('changesQuery'))),
  after: query.get('after'),
})

export const listChanges = ({ history }: StorageDeps) =>
  operation({ params: noParams, query: switchesOf }, async (input) => {
    const { site, caller, query } = input
    const { after, limit = usualLimit, type, subject } = query
    const filter = { types: type, subject, rights: caller.rights, withTokens: !caller.hasOwnRights }
    const page: ChangePage =
      after === undefined
        ? await newestPage(history, site.id, limit, filter)
        : await changesAfter(history, site.id, positionOf(after, site.id), limit, filter)
    const next = page.next === undefined ? null : idOfChange({ site: site.id, position: page.next })
    const value: Answer<typeof changePage> = { items: page.changes.map(viewOfChange), next }
    return ok({ value })
  })
