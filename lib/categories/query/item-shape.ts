import { type ContentKind, contentMembers, type ObjectKind } from '../../core/content-kinds.ts'
import type { Member, Members, MemberType, Scalar, Scalars } from '../../core/object-kinds.ts'

export type Item = Readonly<Record<string, Scalar | Scalars>>

interface InnerObject {
  readonly name: string
  readonly members: Members
  /**
   * Standard objects are shown by default, and `where` and `order` know their members. Answers contain other objects
   * only when `fields` names them.
   */
  readonly standard: boolean
}

export interface ItemShape {
  // A unique integer, which decides the order of equal items (C-20).
  readonly key: string
  readonly own: Members
  readonly objects: readonly InnerObject[]
}

export const contentShape = (kind: ContentKind): ItemShape => ({ key: 'id', own: contentMembers[kind], objects: [] })

export const associationShape = (kind: ObjectKind): ItemShape => ({
  key: 'objectId',
  own: {
    objectId: { type: 'integer' },
    categoryId: { type: 'integer' },
    objectType: { type: 'integer' },
    displayable: { type: 'flag' },
    siteId: { type: 'integer' },
  },
  objects: [
    { name: kind, members: contentMembers[kind], standard: true },
    { name: 'category', members: contentMembers.category, standard: false },
  ],
})

export const siteUrlShape: ItemShape = {
  key: 'siteId',
  own: { siteId: { type: 'integer' }, url: { type: 'string' } },
  objects: [],
}

export interface MemberReference {
  readonly name: string
  readonly type: MemberType
  readonly object?: string
  readonly read: (item: Item) => Scalar
}

const isScalar = (value: Scalar | object | undefined): value is Scalar | undefined => Object(value) !== value

const reference = (name: string, { type }: Member, object?: string): MemberReference => ({
  name: object === undefined ? name : `${object}.${name}`,
  type,
  ...(object !== undefined && { object }),
  read(item) {
    const owner: Item | Scalar | undefined = object === undefined ? item : item[object]
    const value = isScalar(owner) ? null : owner[name]
    return isScalar(value) ? (value ?? null) : null
  },
})

const comparableIn = (members: Members): readonly string[] =>
  Object.keys(members).filter((name) => members[name]?.type !== 'text')

export const comparableNames = ({ own, objects }: ItemShape): readonly string[] => [
  ...comparableIn(own),
  ...objects
    .filter(({ standard }) => standard)
    .flatMap(({ name, members }) => comparableIn(members).map((member) => `${name}.${member}`)),
]

const memberOf = (members: Members, name: string) => (Object.hasOwn(members, name) ? members[name] : undefined)

/** C-31: one of the item's own members, a dotted name (`news.subject`), or a bare name of an inner object. */
export const findMember = ({ own, objects }: ItemShape, name: string): MemberReference | undefined => {
  const ownMember = memberOf(own, name)
  if (ownMember) return reference(name, ownMember)
  for (const { name: object, members, standard } of objects) {
    if (!standard) continue
    const bare = name.startsWith(`${object}.`) ? name.slice(object.length + 1) : name
    const member = memberOf(members, bare)
    if (member) return reference(bare, member, object)
  }
  return undefined
}
