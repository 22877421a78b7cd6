import type { Deadline } from '../core/deadline.ts'
import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId, WebFormId } from '../core/ids.ts'

export interface SystemField {
  readonly typeId: number
  readonly name?: string
  readonly mandatory: boolean
  readonly order: number
}

export interface WebForm {
  readonly site: SiteId
  readonly id: WebFormId
  readonly name: string
  readonly fields: readonly SystemField[]
}

export type WebFormSummary = Pick<WebForm, 'id' | 'name'>

// Orders begin at 1. Clients of the contract expect 32-bit integers.
export const maxOrder = 2_147_483_647

/**
 * The port to the web forms of the sites. Lists are in order of id, and fields are in their order. A call that creates
 * a form returns false when the id is taken; a call that removes a form returns false when the form is missing. Errors
 * of every call: unavailable.
 */
export interface WebForms {
  get(site: SiteId, id: WebFormId): Promise<WebForm | undefined>
  list(site: SiteId): Promise<readonly WebFormSummary[]>
  create(form: WebForm, entry: HistoryEntry): Promise<boolean>
  /**
   * Returns up to `limit` forms with ids above `after`, sorted by id. Only the last page has fewer. Reads consistently.
   */
  listWhole(site: SiteId, after: number, limit: number): Promise<readonly WebForm[]>
  // Writes no history entry when the name stays the same. Errors: webFormUnknown.
  rename(site: SiteId, id: WebFormId, name: string, entry: HistoryEntry): Promise<void>
  highestId(site: SiteId): Promise<number>
  /**
   * Replaces the fields by the result of `apply`, which may be called again, so that no other change is lost. When
   * `apply` returns the same array, nothing is changed and no entry is written. If the time is up (unlimited by
   * default), nothing is changed, now or later. Errors: webFormUnknown, those of `apply`.
   */
  changeFields(
    site: SiteId,
    id: WebFormId,
    apply: (fields: readonly SystemField[]) => readonly SystemField[],
    entry: HistoryEntry,
    deadline?: Deadline,
  ): Promise<void>
  remove(site: SiteId, id: WebFormId, entry: HistoryEntry): Promise<boolean>
  clear(site: SiteId): Promise<void>
}
