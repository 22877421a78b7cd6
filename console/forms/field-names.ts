import type { Field } from '../../client/src/index.ts'
import { texts } from '../texts/texts.ts'

/** The type name in the language of the page, or its own name. */
export const typeName = ({ id, name }: { readonly id: number; readonly name: string }): string =>
  texts.value.forms.types[id] ?? name

/** The given name, or the name of the type. */
export const nameOf = ({ name, type }: Pick<Field, 'name' | 'type'>): string =>
  name === type.name || name === `[${type.name}]` ? typeName(type) : name
