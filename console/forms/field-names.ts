import type { Field } from '../../client/src/index.ts'
import { viewTexts } from '../texts/view-texts.ts'

export const typeName = ({ id, name }: { readonly id: number; readonly name: string }): string =>
  viewTexts.value.forms.types[id] ?? name

/** True if the name is stored with the field, which only an import can do (F-11). */
export const hasOwnName = ({ name, type }: Pick<Field, 'name' | 'type'>): boolean =>
  name !== type.name && name !== `[${type.name}]`

export const fieldNameOf = (field: Pick<Field, 'name' | 'type'>): string =>
  hasOwnName(field) ? field.name : typeName(field.type)
