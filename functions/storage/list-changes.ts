import type { Answer } from '../../lib/contract/contract.ts'
import type { changePage } from '../../lib/contract/storage/contract-changes.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import {
  type ChangePage,
  changesAfter,
  changesBefore,
  fitting,
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

const ends = { after: 'oldest', before: 'newest' } as const

/** Undefined for an empty text, which begins at an end of the history. */
const positionOf = (name: keyof typeof ends, id: string, site: SiteId): number | undefined => {
  if (id === '') return undefined
  const position = positionIn(id, site)
  if (position !== undefined) return position
  throw new ServiceError('storageRefused', {
    message:
      `"${name}" is not the id of a change of this site. Send such an id, or leave "${name}" empty to begin ` +
      `with the ${ends[name]} change.`,
  })
}

const newestPage: typeof newestChanges = async (...wanted) => {
  const page = await newestChanges(...wanted)
  return { ...page, changes: newestWithin(page.changes) }
}

const switchesOf = async (query: Switches) => ({
  ...(await readSwitches(query, ['limit', 'type', 'subject'], schemaOf('changesQuery'))),
  after: query.get('after'),
  before: query.get('before'),
})

const wantOneEnd = (): ServiceError =>
  new ServiceError('storageRefused', {
    message: '"after" and "before" exclude each other. Send only one of them.',
  })

export const listChanges = ({ history }: StorageDeps) =>
  operation({ params: noParams, query: switchesOf }, async (input) => {
    const { site, caller, query } = input
    const { after, before, limit = usualLimit, type, subject } = query
    if (after !== undefined && before !== undefined) throw wantOneEnd()
    const filter = { types: type, subject, rights: caller.rights, withTokens: !caller.hasOwnRights }
    const readPage = async (): Promise<ChangePage> => {
      if (after !== undefined)
        return changesAfter(history, site.id, positionOf('after', after, site.id) ?? 0, limit, filter)
      if (before === undefined) return newestPage(history, site.id, limit, filter)
      const from = positionOf('before', before, site.id)
      return fitting(await changesBefore(history, site.id, { limit, filter, before: from }))
    }
    const page = await readPage()
    const next = page.next === undefined ? null : idOfChange({ site: site.id, position: page.next })
    const value: Answer<typeof changePage> = { items: page.changes.map(viewOfChange), next }
    return ok({ value })
  })
