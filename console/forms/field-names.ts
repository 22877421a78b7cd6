import type { Field } from '../../client/src/index.ts'
import { viewTexts } from '../texts/view-texts.ts'

export const typeName = ({ id, name }: { readonly id: number; readonly name: string }): string =>
  viewTexts.value.forms.types[id] ?? name

export const fieldNameOf = ({ name, type }: Pick<Field, 'name' | 'type'>): string =>
  name === type.name || name === `[${type.name}]` ? typeName(type) : name
