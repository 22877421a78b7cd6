import { userInfo } from 'node:os'
import type { Author, ChangeType, HistoryEntry } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { Refusal } from '../terminal/output.ts'

// The author of changes that commands make.
const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    // In a container, the user id may have no name.
    return String(process.getuid?.() ?? 'unknown')
  }
}

export const administrator: Author = { actor: `admin:${userName()}` }

export const entryOf = (
  type: ChangeType,
  site: SiteId,
  subject: string,
  details?: HistoryEntry['details'],
): HistoryEntry => ({ ...administrator, site, type, subject, ...(details && { details }) })

interface Creation<Id extends number> {
  readonly wanted: Id | undefined
  // One more than the highest used id.
  readonly next: () => Promise<number>
  readonly largest: number
  // If the id is taken, creates nothing and returns false.
  readonly create: (id: Id) => Promise<boolean>
  readonly taken: string
}

/** Creates an object with the wanted id, or with the next free id. Returns the id. Throws a Refusal. */
export const createUnderId = async <Id extends number>(creation: Creation<Id>): Promise<Id> => {
  const { wanted, next, largest, create, taken } = creation
  if (wanted !== undefined) {
    if (await create(wanted)) return wanted
    throw new Refusal(`${taken} ${wanted} already. Choose another --id, or leave it out.`)
  }
  // Another command may take the same id at the same moment. Then the next id is tried.
  for (let id = await next(); id <= largest; id++) {
    if (await create(id as Id)) return id as Id
  }
  throw new Refusal('No id above the highest used id is free. Choose a lower id with --id.')
}
