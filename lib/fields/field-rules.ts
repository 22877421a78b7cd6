import { invalidInput, ServiceError } from '../errors.ts'
import type { Author, ChangeType, HistoryEntry } from '../history-entry.ts'
import type { SiteId, WebFormId } from '../ids.ts'
import { fieldTypes } from './catalogue.ts'
import { placeField } from './place-field.ts'
import type { SystemField } from './web-form.ts'

type Fields = readonly SystemField[]

export interface NewField {
  readonly typeId: number
  readonly mandatory: boolean
  readonly order?: number | undefined
}

export interface FieldChange {
  readonly mandatory?: boolean | undefined
  readonly order?: number | undefined
}

/** A condition that a change must find true of the field as it is. Throws when it does not hold. */
export type Precondition = (field: SystemField) => void

/** The field of a type. Errors: fieldUnknown. */
export const findField = (fields: Fields, typeId: number): SystemField => {
  const field = fields.find((candidate) => candidate.typeId === typeId)
  if (!field) throw new ServiceError('fieldUnknown')
  return field
}

const without = (fields: Fields, field: SystemField) => fields.filter((other) => other !== field)

/** Errors: fieldsMalformed (unknown type, no position left), fieldTypeTaken. */
export const addField = (fields: Fields, field: NewField): Fields => {
  if (!fieldTypes.has(field.typeId)) {
    throw invalidInput('fieldsMalformed', [
      { path: 'type.id', message: `${field.typeId} is not a type of system field that can be placed on a form` },
    ])
  }
  if (fields.some(({ typeId }) => typeId === field.typeId)) throw new ServiceError('fieldTypeTaken')
  return placeField(fields, field)
}

/** Errors: fieldUnknown, whatever the precondition throws, fieldsMalformed (no position left). */
export const changeField = (fields: Fields, typeId: number, change: FieldChange, check: Precondition): Fields => {
  const field = findField(fields, typeId)
  check(field)
  return placeField(without(fields, field), {
    ...field,
    mandatory: change.mandatory ?? field.mandatory,
    order: change.order ?? field.order,
  })
}

/** Leaves a gap where the field was. Errors: fieldUnknown, whatever the precondition throws. */
export const removeField = (fields: Fields, typeId: number, check: Precondition): Fields => {
  const field = findField(fields, typeId)
  check(field)
  return without(fields, field)
}

/** Puts a field on a form as an import brings it: any type that can be stored, in place of one of the same type. */
export const importField = (fields: Fields, field: NewField & { readonly name?: string | undefined }): Fields => {
  const existing = fields.find(({ typeId }) => typeId === field.typeId)
  const others = existing ? without(fields, existing) : fields
  const { name, ...rest } = field
  return placeField(others, { ...rest, ...(name !== undefined && { name }), order: field.order ?? existing?.order })
}

/** What the history of a site says of a change of one of its fields. */
export const fieldEntry = (
  type: Extract<ChangeType, `field.${string}`>,
  { id: site }: { readonly id: SiteId },
  webForm: WebFormId,
  typeId: number,
  author: Author,
): HistoryEntry => ({ ...author, site, type, subject: `form/${webForm}/field/${typeId}` })
