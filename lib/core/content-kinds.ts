import { byName } from './names.ts'
import { type ContentMember, objectKinds, type Scalar, type Scalars } from './object-kinds.ts'

export type ObjectKind = keyof typeof objectKinds
export type ContentKind = 'category' | ObjectKind

export const objectKindNames = Object.keys(objectKinds) as readonly ObjectKind[]
export const contentKinds: readonly ContentKind[] = ['category', ...objectKindNames]

export const nounOf = (kind: ContentKind): string => (kind === 'category' ? kind : objectKinds[kind].one)

export const oneOf = (kind: ContentKind): string => `${/^[aeiou]/.test(nounOf(kind)) ? 'an' : 'a'} ${nounOf(kind)}`

export const manyObjects = objectKindNames.map((kind) => objectKinds[kind].many).join(' and ')

export const contentMembers: Readonly<Record<ContentKind, Readonly<Record<string, ContentMember>>>> = {
  category: {
    id: { type: 'integer', meaning: 'the number that identifies the category' },
    name: { type: 'string', meaning: 'the name of the category', otherwise: (of) => `Category ${of('id')}` },
  },
  ...byName(objectKindNames, (kind) => objectKinds[kind].members),
}

export const textMember = (kind: ContentKind): string | undefined =>
  Object.entries(contentMembers[kind]).find(([, { type }]) => type === 'text')?.[0]

/** Fills in the defaults of all members, except those in `unless`. `now` is in milliseconds since the epoch. */
export const withDefaults = <Given extends Scalars>(
  kind: ContentKind,
  given: Given,
  now: number,
  unless?: string,
): Given & Scalars => {
  const moment = new Date(now).toISOString().slice(0, 19)
  const content: Record<string, Scalar> = { ...given }
  const defaultOf = (name: string): Scalar => {
    const value = content[name]
    if (value !== undefined) return value
    const otherwise = contentMembers[kind][name]?.otherwise ?? null
    return typeof otherwise === 'function' ? otherwise(defaultOf, moment) : otherwise
  }
  for (const [name, { otherwise }] of Object.entries(contentMembers[kind])) {
    if (otherwise !== undefined && content[name] === undefined && name !== unless) content[name] = defaultOf(name)
  }
  return { ...content, ...given }
}

/**
 * Given members have priority over stored ones, and stored ones over defaults. `now` is in milliseconds since the
 * epoch.
 */
export const mergeContent = <Given extends Scalars>(
  kind: ContentKind,
  stored: Scalars | undefined,
  given: Given,
  now: number,
): Given & Scalars => {
  const members = contentMembers[kind]
  // A stored null counts as absent, unless the member may be null.
  const known = Object.entries(stored ?? {}).filter(([name, value]) => value !== null || members[name]?.nullable)
  return withDefaults(kind, { ...Object.fromEntries(known), ...given }, now, stored && textMember(kind))
}

export const isSameContent = (kind: ContentKind, one: Scalars, other: Scalars): boolean =>
  Object.entries(contentMembers[kind]).every(
    ([name, { type }]) => type === 'text' || name === 'siteId' || (one[name] ?? null) === (other[name] ?? null),
  )

export const givenText = (kind: ContentKind, content: Scalars): string | undefined => {
  const member = textMember(kind)
  const text = member === undefined ? undefined : content[member]
  return text === undefined ? undefined : String(text ?? '')
}
