import { userInfo } from 'node:os'
import type { Author, ChangeType, HistoryEntry } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { Refusal } from '../terminal/output.ts'

/** Whom the history names for what a command changes. */
const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    // A container may run under a number that has no name.
    return String(process.getuid?.() ?? 'unknown')
  }
}

export const administrator: Author = { actor: `admin:${userName()}` }

/** What the history of a site says of a change that a command makes. */
export const entryOf = (
  type: ChangeType,
  site: SiteId,
  subject: string,
  details?: HistoryEntry['details'],
): HistoryEntry => ({ ...administrator, site, type, subject, ...(details && { details }) })

interface Creation<Id extends number> {
  /** The id that a person has asked for. */
  readonly wanted: Id | undefined
  /** The lowest id that is given to something without a wish: the one behind the highest that there is. */
  readonly next: () => Promise<number>
  readonly largest: number
  /** Answers false, and creates nothing, when the id is taken. */
  readonly create: (id: Id) => Promise<boolean>
  /** The beginning of what a person is told whose id is taken. */
  readonly taken: string
}

/** Creates something under the id that is wanted, or else under the next one, and answers the id. Throws a Refusal. */
export const createUnderId = async <Id extends number>(creation: Creation<Id>): Promise<Id> => {
  const { wanted, next, largest, create, taken } = creation
  if (wanted !== undefined) {
    if (await create(wanted)) return wanted
    throw new Refusal(`${taken} ${wanted} already. Choose another --id, or leave it out.`)
  }
  // Another command may take the next id at the same moment; the one after it will do as well.
  for (let id = await next(); id <= largest; id++) {
    if (await create(id as Id)) return id as Id
  }
  throw new Refusal('The ids behind the highest one are used up. Choose a free one with --id.')
}
