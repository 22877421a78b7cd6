import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId, WebFormId } from '../core/ids.ts'
import type { Deadline } from '../core/time.ts'

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

export const fieldTypes: ReadonlyMap<number, string> = new Map([
  [-2, 'CustomerDetails'],
  [-3, 'CustomerEmailAddress'],
  [-304, 'WebFormSecurity'],
  [-10, 'CustomerHomeAddress'],
  [-20, 'CustomerHomePhoneNumber'],
  [-23, 'CustomerHomeFaxNumber'],
  [-5, 'CustomerUsername'],
  [-6, 'CustomerPassword'],
  [-7, 'CustomerDOB'],
  [-11, 'CustomerWorkAddress'],
  [-21, 'CustomerWorkPhoneNumber'],
  [-24, 'CustomerWorkFaxNumber'],
  [-25, 'CustomerWebAddress'],
  [-4, 'CustomerCompanyDetails'],
  [-22, 'CustomerMobilePhoneNumber'],
  [-500, 'ReferAFriend'],
  [-31, 'CustomerAnniversary2'],
  [-33, 'CustomerAnniversary4'],
  [-34, 'CustomerAnniversary5'],
  [-32, 'CustomerAnniversary3'],
  [-30, 'CustomerAnniversary1'],
  [-301, 'PaymentMethodType'],
  [-302, 'CreditCardPayment'],
  [-13, 'CustomerBillingAddress'],
  [-40, 'CustomerShippingDetails'],
  [-41, 'CustomerShippingAttention'],
  [-12, 'CustomerShippingAddress'],
  [-303, 'CreditCardUpdate'],
  [-300, 'CreditCardProcessing'],
  [-200, 'FileAttachment'],
  [-403, 'Recaptcha'],
  [-404, 'RecaptchaV2'],
  [-402, 'ImageVerificationV2Only'],
])

/** F-12: stored fields may have this type, and reads return them. The service itself creates no field of this type. */
export const imageVerification = { id: -400, typeName: 'ImageVerification', fieldName: '[ImageVerification]' } as const

export const fieldTypeName = (typeId: number): string | undefined =>
  typeId === imageVerification.id ? imageVerification.typeName : fieldTypes.get(typeId)

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
