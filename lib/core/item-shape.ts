/**
 * What the items of a list are made of, as data: the query language, the answers and the store all read it.
 * `flag` is 1 or 0; `date` is `YYYY-MM-DDTHH:MM:SS` in UTC; `text` is a string too long to be compared.
 */
export type MemberType = 'integer' | 'flag' | 'string' | 'boolean' | 'date' | 'text'

export interface Member {
  readonly type: MemberType
  readonly nullable?: true
}

export type Members = Readonly<Record<string, Member>>

export type Scalar = string | number | boolean | null

/** The members of one object by name. */
export type Scalars = Readonly<Record<string, Scalar>>

interface Values {
  integer: number
  flag: 0 | 1
  string: string
  boolean: boolean
  date: string
  text: string
}

/** The values of members as they are described. */
export type ValuesOf<Described extends Members> = {
  readonly [Name in keyof Described]: Described[Name] extends { readonly nullable: true }
    ? Values[Described[Name]['type']] | null
    : Values[Described[Name]['type']]
}

/** An item of a list: its own members, and objects inside it. */
export type Item = Readonly<Record<string, Scalar | Scalars>>

/** An object inside an item. */
interface InnerObject {
  readonly name: string
  readonly members: Members
  /** Whether it is shown unless `fields` says otherwise, and whether `where` and `order` know it; otherwise it comes only when asked for. */
  readonly standard: boolean
}

export interface ItemShape {
  /** The member that is unique in the list, an integer: ties are resolved by it. */
  readonly key: string
  readonly own: Members
  readonly objects: readonly InnerObject[]
}

/** A member that a condition or an order names. */
export interface MemberReference {
  /** Its full name: `displayable`, `news.subject`. */
  readonly name: string
  readonly type: MemberType
  /** The object that it belongs to; undefined for the item's own members. */
  readonly object?: string
  readonly read: (item: Item) => Scalar
}

const isScalars = (value: Scalar | Scalars | undefined): value is Scalars => typeof value === 'object' && value !== null

const reference = (name: string, { type }: Member, object?: string): MemberReference =>
  object === undefined
    ? {
        name,
        type,
        read(item) {
          const value = item[name]
          return isScalars(value) ? null : (value ?? null)
        },
      }
    : {
        name: `${object}.${name}`,
        type,
        object,
        read(item) {
          const inner = item[object]
          return isScalars(inner) ? (inner[name] ?? null) : null
        },
      }

const memberOf = (members: Members, name: string) => (Object.hasOwn(members, name) ? members[name] : undefined)

/**
 * Finds the member that a condition or an order means: one of the item's own, a dotted one (`news.subject`), or one of the
 * inner object by its bare name, in this order (decisions.md, section 4).
 */
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
