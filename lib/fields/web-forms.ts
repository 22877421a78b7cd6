import { invalidInput, ServiceError } from '../core/errors.ts'
import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId, WebFormId } from '../core/ids.ts'
import type { Deadline } from '../core/time.ts'

export interface SystemField {
  readonly typeId: number
  readonly name?: string
  readonly mandatory: boolean
  readonly order: number
}

export type Fields = readonly SystemField[]

export type FieldsEdit = (fields: Fields) => Fields

export interface WebForm {
  readonly site: SiteId
  readonly id: WebFormId
  readonly name: string
  readonly fields: Fields
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
  changeFields(site: SiteId, id: WebFormId, apply: FieldsEdit, entry: HistoryEntry, deadline?: Deadline): Promise<void>
  remove(site: SiteId, id: WebFormId, entry: HistoryEntry): Promise<boolean>
  clear(site: SiteId): Promise<void>
}

interface FieldChange {
  readonly mandatory?: boolean | undefined
  readonly order?: number | undefined
}

type UnplacedField = Omit<SystemField, 'order'> & Pick<FieldChange, 'order'>

const malformed = (path: string, message: string) => invalidInput('fieldsMalformed', [{ path, message }])

export const findField = (fields: Fields, typeId: number): SystemField => {
  const field = fields.find((candidate) => candidate.typeId === typeId)
  if (!field) throw new ServiceError('fieldUnknown')
  return field
}

const without = (fields: Fields, field: SystemField | undefined) => fields.filter((other) => other !== field)

/** F-16, F-22 to F-24. `others` are sorted by order. Errors: fieldsMalformed when no position is free. */
const insertField = (others: Fields, { order, ...field }: UnplacedField): Fields => {
  const position = order ?? (others.at(-1)?.order ?? 0) + 1
  const before = others.filter((other) => other.order < position)
  let free = position
  const behind = others.slice(before.length).map((other) => {
    if (other.order > free) return other
    free = other.order + 1
    return { ...other, order: free }
  })
  if (Math.max(position, free) > maxOrder) {
    const taken = `all positions from here to the last one, ${maxOrder}, are taken`
    throw malformed('order', `is too large: ${taken}. Send a smaller order`)
  }
  return [...before, { ...field, order: position }, ...behind]
}

export const addField = (fields: Fields, field: UnplacedField): Fields => {
  if (!fieldTypes.has(field.typeId)) {
    const advice = 'GET …/webformfieldtypes/system lists the field types'
    throw malformed('type.id', `${field.typeId} is not a field type. ${advice}`)
  }
  if (fields.some(({ typeId }) => typeId === field.typeId)) throw new ServiceError('fieldTypeTaken')
  return insertField(fields, field)
}

export const changeField = (fields: Fields, typeId: number, change: FieldChange): Fields => {
  const field = findField(fields, typeId)
  const { mandatory = field.mandatory, order = field.order } = change
  if (mandatory === field.mandatory && order === field.order) return fields
  return insertField(without(fields, field), { ...field, mandatory, order })
}

export const removeField = (fields: Fields, typeId: number): Fields => without(fields, findField(fields, typeId))

export interface ImportedField extends FieldChange {
  readonly typeId: number
  readonly name?: string | undefined
}

/**
 * Places a field of any stored type. An existing field keeps the members that `field` lacks. With `replaces`, the
 * existing field keeps only its position. Errors: fieldsMalformed (no free position).
 */
export const importField = (fields: Fields, field: ImportedField, replaces?: boolean): Fields => {
  const existing = fields.find(({ typeId }) => typeId === field.typeId)
  const kept = replaces ? undefined : existing
  const { typeId, name = kept?.name, mandatory = kept?.mandatory ?? false, order = existing?.order } = field
  return insertField(without(fields, existing), { typeId, ...(name !== undefined && { name }), mandatory, order })
}
