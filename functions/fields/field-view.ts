import { fieldTypeName, imageVerification } from '../../lib/fields/catalogue.ts'
import type { SystemField } from '../../lib/fields/web-form.ts'
import { tagOf } from '../../lib/http/conditions.ts'
import type { Answer } from '../contract.ts'
import type { field as fieldAnswer } from './contract.ts'

const nameOf = ({ typeId, name }: SystemField, typeName: string): string =>
  name ?? (typeId === imageVerification.id ? imageVerification.fieldName : typeName)

/** A field as callers see it (api.md, "System web form field"); `self` is its URL. */
export const fieldView = (field: SystemField, self: string): Answer<typeof fieldAnswer> => {
  const { typeId, mandatory, order } = field
  const typeName = fieldTypeName(typeId) ?? ''
  return {
    links: [{ rel: 'self', uri: self }],
    id: typeId,
    name: nameOf(field, typeName),
    type: { id: typeId, name: typeName },
    mandatory,
    order,
  }
}

/** Names the state of a field, for `ETag` and `If-Match`: all of its members, in whichever order a store has put them. */
export const fieldTag = (field: SystemField): string => tagOf(Object.entries(field).sort())
