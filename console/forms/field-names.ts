import type { Field } from '../../client/src/index.ts'
import { texts } from '../texts/texts.ts'

/** What a type of system field is called for people; its own name where nobody has said. */
export const typeName = ({ id, name }: { readonly id: number; readonly name: string }): string =>
  texts.value.forms.types[id] ?? name

/** What a field is called: a name that somebody has given it, or that of its type. */
export const nameOf = ({ name, type }: Pick<Field, 'name' | 'type'>): string =>
  name === type.name || name === `[${type.name}]` ? typeName(type) : name
