import * as z from 'zod/mini'
import { associationShape, categoryShape, type ObjectKind } from '../../lib/categories/content-kinds.ts'
import type { ItemShape, Member, Members, MemberType } from '../../lib/categories/query/item-shape.ts'

/** What the operations on categories answer, made from what the items of their lists are made of. Those are typed by these; only the document loads them. */
const moment = z
  .string()
  .check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/))
  .register(z.globalRegistry, {
    id: 'Moment',
    description: 'A date and time in UTC, without a zone.',
  })

const scalars = {
  integer: z.int(),
  flag: z.literal([0, 1]),
  string: z.string(),
  boolean: z.boolean(),
  date: moment,
  text: z.string(),
} as const satisfies Record<MemberType, z.core.$ZodType>

const scalarOf = ({ type, nullable }: Member) => (nullable ? z.nullable(scalars[type]) : scalars[type])

const membersOf = (members: Members) =>
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, z.optional(scalarOf(member))]))

/** `fields` may leave out any member. */
const itemOf = ({ own, objects }: ItemShape) =>
  z.object({
    ...membersOf(own),
    ...Object.fromEntries(objects.map(({ name, members }) => [name, z.optional(z.object(membersOf(members)))])),
  })

const pageOf = <Item extends z.core.$ZodType>(item: Item) =>
  z.object({
    items: z.array(item),
    totalItemsCount: z.nullable(z.int().check(z.minimum(0))),
    skip: z.optional(z.int().check(z.minimum(0))),
    nextCursor: z.optional(z.nullable(z.string())),
    limit: z.int().check(z.minimum(0)),
  })

const pageDescription =
  'A page of a list. By `skip` it has `skip`; by `cursor` it has `nextCursor`, null at the end, and `totalItemsCount` is null unless `count=true`.'

export const category = itemOf(categoryShape).register(z.globalRegistry, {
  id: 'Category',
  description: 'A category of a site.',
})

export const categoryPage = pageOf(category).register(z.globalRegistry, {
  id: 'CategoryPage',
  description: pageDescription,
})

const association = (kind: ObjectKind, id: string, description: string) =>
  pageOf(itemOf(associationShape(kind)).register(z.globalRegistry, { id: `${id}Association`, description })).register(
    z.globalRegistry,
    { id: `${id}AssociationPage`, description: pageDescription },
  )

export const associationPages = {
  news: association('news', 'News', 'The link between a category and a news item.'),
  blog: association('blog', 'Blog', 'The link between a category and a blog.'),
} as const satisfies Record<ObjectKind, z.core.$ZodType>

export type AssociationPage = (typeof associationPages)[ObjectKind]
