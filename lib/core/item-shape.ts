/** `flag` is 1 or 0; `date` is `YYYY-MM-DDTHH:MM:SS` in UTC; `text` is too long to be compared. */
export type MemberType = 'integer' | 'flag' | 'string' | 'boolean' | 'date' | 'text'

export interface Member {
  readonly type: MemberType
  readonly nullable?: true
}

export type Members = Readonly<Record<string, Member>>

export type Scalar = string | number | boolean | null

export type Scalars = Readonly<Record<string, Scalar>>

interface Values {
  integer: number
  flag: 0 | 1
  string: string
  boolean: boolean
  date: string
  text: string
}

export type ValuesOf<Described extends Members> = {
  readonly [Name in keyof Described]: Described[Name] extends { readonly nullable: true }
    ? Values[Described[Name]['type']] | null
    : Values[Described[Name]['type']]
}

export type Item = Readonly<Record<string, Scalar | Scalars>>

interface InnerObject {
  readonly name: string
  readonly members: Members
  /** Shown by default, and known to `where` and `order`. Other objects only come when `fields` names them. */
  readonly standard: boolean
}

export interface ItemShape {
  // A unique integer, which resolves ties (C-20).
  readonly key: string
  readonly own: Members
  readonly objects: readonly InnerObject[]
}

export interface MemberReference {
  // `displayable`, `news.subject`.
  readonly name: string
  readonly type: MemberType
  readonly object?: string
  readonly read: (item: Item) => Scalar
}

const isTree = <Tree extends object>(value: Scalar | Tree | undefined): value is Tree =>
  typeof value === 'object' && value !== null

const reference = (name: string, { type }: Member, object?: string): MemberReference => ({
  name: object === undefined ? name : `${object}.${name}`,
  type,
  ...(object !== undefined && { object }),
  read(item) {
    const owner: Item | Scalar | undefined = object === undefined ? item : item[object]
    const value = isTree(owner) ? owner[name] : undefined
    return isTree(value) ? null : (value ?? null)
  },
})

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
