import type { SiteId, WebFormId } from '../ids.ts'

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
