import { type ContentKind, contentMembers } from './content-kinds.ts'
import type { Scalar, Scalars } from './query/item-shape.ts'

/** Gives every member that is left out a sensible value. `now` is in milliseconds since the epoch. */
export const withDefaults = <Given extends Scalars>(kind: ContentKind, given: Given, now: number): Given & Scalars => {
  const moment = new Date(now).toISOString().slice(0, 19)
  const content: Record<string, Scalar> = { ...given }
  const defaultOf = (name: string): Scalar => {
    const said = content[name]
    if (said !== undefined) return said
    const otherwise = contentMembers[kind][name]?.otherwise ?? null
    return typeof otherwise === 'function' ? otherwise(defaultOf, moment) : otherwise
  }
  for (const [name, { otherwise }] of Object.entries(contentMembers[kind])) {
    if (otherwise !== undefined && content[name] === undefined) content[name] = defaultOf(name)
  }
  return { ...content, ...given }
}
