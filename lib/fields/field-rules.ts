import { invalidInput, ServiceError } from '../core/errors.ts'
import type { Author, ChangeType, HistoryEntry } from '../core/history-entry.ts'
import type { SiteId, WebFormId } from '../core/ids.ts'
import { fieldTypes, maxOrder, type SystemField } from './web-forms.ts'

type Fields = readonly SystemField[]

export interface FieldChange {
  readonly mandatory?: boolean | undefined
  readonly order?: number | undefined
}

export interface NewField extends FieldChange {
  readonly typeId: number
  readonly mandatory: boolean
}

type Precondition = (field: SystemField) => void

export const findField = (fields: Fields, typeId: number): SystemField => {
  const field = fields.find((candidate) => candidate.typeId === typeId)
  if (!field) throw new ServiceError('fieldUnknown')
  return field
}

const without = (fields: Fields, field: SystemField) => fields.filter((other) => other !== field)

/** F-16, F-22 to F-24. `others` are sorted by order. Errors: fieldsMalformed when no position is free. */
const insertField = (
  others: readonly SystemField[],
  { order, ...field }: Omit<SystemField, 'order'> & { readonly order?: number | undefined },
): SystemField[] => {
  const position = order ?? (others.at(-1)?.order ?? 0) + 1
  const before = others.filter((other) => other.order < position)
  let free = position
  const behind = others.slice(before.length).map((other) => {
    if (other.order > free) return other
    free = other.order + 1
    return { ...other, order: free }
  })
  if (Math.max(position, free) > maxOrder) {
    throw invalidInput('fieldsMalformed', [
      {
        path: 'order',
        message: `is too large: all positions from here to the last one, ${maxOrder}, are taken. Send a smaller order`,
      },
    ])
  }
  return [...before, { ...field, order: position }, ...behind]
}

/** Errors: fieldsMalformed (unknown type, no free position), fieldTypeTaken. */
export const addField = (fields: Fields, field: NewField): Fields => {
  if (!fieldTypes.has(field.typeId)) {
    throw invalidInput('fieldsMalformed', [
      {
        path: 'type.id',
        message: `${field.typeId} is not a field type. GET …/webformfieldtypes/system lists the field types`,
      },
    ])
  }
  if (fields.some(({ typeId }) => typeId === field.typeId)) throw new ServiceError('fieldTypeTaken')
  return insertField(fields, field)
}

export const changeField = (fields: Fields, typeId: number, change: FieldChange, check: Precondition): Fields => {
  const field = findField(fields, typeId)
  check(field)
  const { mandatory = field.mandatory, order = field.order } = change
  if (mandatory === field.mandatory && order === field.order) return fields
  return insertField(without(fields, field), { ...field, mandatory, order })
}

export const removeField = (fields: Fields, typeId: number, check: Precondition): Fields => {
  const field = findField(fields, typeId)
  check(field)
  return without(fields, field)
}

export interface ImportedField extends FieldChange {
  readonly typeId: number
  readonly name?: string | undefined
}

const isSame = (one: SystemField, other: SystemField): boolean =>
  one.name === other.name && one.mandatory === other.mandatory && one.order === other.order

/**
 * Places a field of any stored type. An existing field keeps the members that `field` lacks. With `replaces`, the
 * existing field keeps only its position. Returns the same array when nothing changes. Errors: fieldsMalformed (no free
 * position).
 */
export const importField = (fields: Fields, field: ImportedField, replaces?: boolean): Fields => {
  const existing = fields.find(({ typeId }) => typeId === field.typeId)
  const kept = replaces ? undefined : existing
  const name = field.name ?? kept?.name
  const wanted = {
    typeId: field.typeId,
    ...(name !== undefined && { name }),
    mandatory: field.mandatory ?? kept?.mandatory ?? false,
    order: field.order ?? existing?.order,
  }
  if (existing && isSame(existing, { ...wanted, order: wanted.order ?? existing.order })) return fields
  return insertField(existing ? without(fields, existing) : fields, wanted)
}

export const fieldEntry = (
  type: Extract<ChangeType, `field.${string}`>,
  { id: site }: { readonly id: SiteId },
  webForm: WebFormId,
  typeId: number,
  author: Author,
): HistoryEntry => ({ ...author, site, type, subject: `form/${webForm}/field/${typeId}` })
