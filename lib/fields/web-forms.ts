import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId, WebFormId } from '../core/ids.ts'
import type { RemainingTime } from '../core/remaining-time.ts'

/** A system field on a form. Its type names it: a form has at most one field of a type. */
export interface SystemField {
  readonly typeId: number
  /** The field's own name, where it differs from the catalogue's. */
  readonly name?: string
  readonly mandatory: boolean
  readonly order: number
}

/** A web form with its system fields, sorted by order. */
export interface WebForm {
  readonly site: SiteId
  readonly id: WebFormId
  readonly name: string
  readonly fields: readonly SystemField[]
}

/** What a list of forms shows of each. */
export type WebFormSummary = Pick<WebForm, 'id' | 'name'>

/** Orders run from 1 to this: what a 32-bit integer holds, as clients of the contract expect. */
export const maxOrder = 2_147_483_647

/** The port to the web forms of the sites of a data centre. Errors of every call: unavailable. */
export interface WebForms {
  get(site: SiteId, id: WebFormId): Promise<WebForm | undefined>
  /** In order of id. */
  list(site: SiteId): Promise<readonly WebFormSummary[]>
  /** Answers false when the site has a form of that id already; nothing is changed then. */
  create(form: WebForm, entry: HistoryEntry): Promise<boolean>
  /** Those behind an id with their fields, in order of id, up to `limit`; fewer only at the end. What was stored a moment ago is there. */
  listWhole(site: SiteId, after: number, limit: number): Promise<readonly WebForm[]>
  /** A name that it has already changes nothing, and leaves no entry. Errors: webFormUnknown. */
  rename(site: SiteId, id: WebFormId, name: string, entry: HistoryEntry): Promise<void>
  /** The highest id of a form of the site; 0 when it has none. */
  highestId(site: SiteId): Promise<number>
  /**
   * Replaces the fields by what `apply` makes of them. No change of another writer is lost: `apply` may be called again, on what
   * that one has left. When the request has no time left (unlimited unless told), nothing is changed any more: not even later, over
   * what others change then. When `apply` answers the very fields that it was given, nothing is changed, and there is no entry.
   * Errors: webFormUnknown, unavailable, whatever `apply` throws; nothing is changed then.
   */
  changeFields(
    site: SiteId,
    id: WebFormId,
    apply: (fields: readonly SystemField[]) => readonly SystemField[],
    entry: HistoryEntry,
    remainingTime?: RemainingTime,
  ): Promise<void>
  /** Removes a form with its fields. Answers whether there was one. */
  remove(site: SiteId, id: WebFormId, entry: HistoryEntry): Promise<boolean>
  /** Removes all forms of a site: a step of the removal of the site. Repeating is safe. */
  clear(site: SiteId): Promise<void>
}
