import type { HistoryEntry } from './history-entry.ts'
import { type SiteId, storedId } from './ids.ts'

/** An entry of the history of a site. */
export interface Change extends HistoryEntry {
  // Later entries of a site have larger positions. `at` is in milliseconds since the epoch.
  readonly position: number
  readonly at: number
}

const digits = 16

const shape = /^(\d{16})-([1-9]\d{0,14})$/

export const idOfChange = ({ site, position }: Pick<Change, 'site' | 'position'>): string =>
  `${String(position).padStart(digits, '0')}-${site}`

export const positionIn = (id: string, site: SiteId): number | undefined => {
  const [, position = '', ofSite = ''] = shape.exec(id) ?? []
  if (position === '' || storedId<SiteId>(ofSite) !== site) return undefined
  return Number.isSafeInteger(Number(position)) ? Number(position) : undefined
}

export const viewOfChange = (change: Change) => ({
  id: idOfChange(change),
  at: new Date(change.at).toISOString(),
  type: change.type,
  subject: change.subject,
  actor: change.actor,
  requestId: change.requestId ?? null,
  details: change.details ?? null,
})
