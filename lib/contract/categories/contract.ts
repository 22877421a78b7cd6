import * as z from 'zod/mini'
import {
  associationShape,
  contentShape,
  type ItemShape,
  membersIn,
  siteUrlShape,
} from '../../categories/query/item-shape.ts'
import { largestLimit, standardLimit } from '../../categories/query/list-query.ts'
import { deepestWhere, longestWhere, mostConditions } from '../../categories/query/where.ts'
import { manyObjects, type ObjectKind, objectKindNames, oneOf } from '../../core/content-kinds.ts'
import { largestContentId } from '../../core/ids.ts'
import { capitalised, recordOf } from '../../core/names.ts'
import { type Member, type Members, type MemberType, objectKinds } from '../../core/object-kinds.ts'
import {
  type AnswerContract,
  component,
  type GroupContract,
  named,
  type OperationContract,
  ok,
  type ParameterContracts,
  parameter,
  text,
} from '../contract.ts'
import { ofEachKind, operationsOf } from '../routes/categories.ts'
import { linkCategoriesOf, linkOf, unlinkCategoriesOf, unlinkOf } from './contract-links.ts'
import { whereText } from './contract-where.ts'

const moment = named(
  z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)),
  'Moment',
  'A date and time in UTC, without a zone.',
)

const scalars = {
  integer: z.int(),
  flag: named(z.literal([0, 1]), 'Flag', '1 is yes, 0 is no.'),
  string: z.string(),
  boolean: z.boolean(),
  date: moment,
  text: z.string(),
} as const satisfies Record<MemberType, z.core.$ZodType>

const scalarOf = ({ type, nullable }: Member) => (nullable ? z.nullable(scalars[type]) : scalars[type])

const membersOf = (members: Members) =>
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, z.optional(scalarOf(member))]))

// All members are optional, because `fields` may leave out any of them.
const itemOf = ({ own, objects }: ItemShape) =>
  z.object({
    ...membersOf(own),
    ...Object.fromEntries(objects.map(({ name, members }) => [name, z.optional(z.object(membersOf(members)))])),
  })

const count = z.int().check(z.minimum(0))
// C-12, C-13: a request may have a number of any length.
const anyCount = z.int().check(z.minimum(0)).register(z.globalRegistry, { maximum: undefined })

const pageDescription =
  'A page of a list. A page by `skip` has the member `skip`. A page by `cursor` has `nextCursor`, which is null on the ' +
  'last page. It has a `totalItemsCount` only if the request has `count=true`; otherwise this member is null.'

const pageOf = <Item extends z.core.$ZodType>(item: Item, id: string) =>
  component(id, pageDescription, {
    items: z.array(item),
    totalItemsCount: z.nullable(count),
    skip: z.optional(count),
    nextCursor: z.optional(z.nullable(z.string())),
    limit: count,
  })

export const category = named(itemOf(contentShape('category')), 'Category', 'A category of a site.')

export const categoryPage = pageOf(category, 'CategoryPage')

const associationPage = (kind: ObjectKind) => {
  const id = `${capitalised(kind)}Association`
  const item = itemOf(associationShape(kind))
  return pageOf(named(item, id, `The link between a category and ${oneOf(kind)}.`), `${id}Page`)
}

export type AssociationPage = ReturnType<typeof associationPage>

const objectPage = (kind: ObjectKind) => {
  const id = capitalised(objectKinds[kind].one.replaceAll(/ (.)/g, (_, initial: string) => initial.toUpperCase()))
  return pageOf(
    named(itemOf(contentShape(kind)), id, `${capitalised(oneOf(kind))} with all of its members.`),
    `${id}Page`,
  )
}

export type ObjectPage = ReturnType<typeof objectPage>

const siteUrl = named(itemOf(siteUrlShape), 'SiteUrl', 'The address for requests to a site.')

export const siteUrlPage = pageOf(siteUrl, 'SiteUrlPage')

// The names that `where` and `order` accept: members of the item, and members of the inner object with or without its
// name in front.
const orderOf = (shape: ItemShape) => {
  const known = membersIn(shape).filter(({ type }) => type !== 'text')
  const inner = known.filter(({ object }) => object !== undefined)
  const names = [...inner.flatMap(({ name, bareName }) => [name, bareName]), ...known.map(({ name }) => name)]
  const choice = [...new Set(names)].map((name) => name.replace('.', '\\.')).join('|')
  return z.string().check(z.regex(new RegExp(`^(-?(${choice})(,-?(${choice}))*)?$`)))
}

const fieldsSwitch = (example: string): ParameterContracts => ({
  fields: text(
    'The members to show, separated by commas. `news(subject,slug)` and `news.subject` choose members of ' +
      'an object. Unknown names are ignored: a list of a category has no member `subject`, only ' +
      '`news.subject`, so `objectId,subject` shows `objectId` alone.',
    example,
  ),
})

const whereDescription =
  'Shows only items that meet all conditions. The value is a JSON object as a text; the schema `Where` ' +
  'describes it. Its keys are the members that `order` accepts. A plain value means equality. An object ' +
  'has the operators `$eq`, `$ne`, `$neq`, `$lt`, `$lte`, `$gt`, `$gte`, `$in`, `$nin`, `$beginsWith` ' +
  'and `$contains`. `$and` and `$or` take an array of such objects. Comparisons of ' +
  'strings ignore case. Single quotes and keys without quotes are accepted (JSON5). At most ' +
  `${longestWhere} characters, ${mostConditions} conditions, ${deepestWhere} levels of \`$and\` and \`$or\`.`

const listSwitches = (shape: ItemShape, shown: Record<'fields' | 'where' | 'order', string>): ParameterContracts => ({
  ...fieldsSwitch(shown.fields),
  where: parameter(whereDescription, shown.where, whereText),
  order: parameter(
    'The members to sort by, separated by commas. `-` in front of a member sorts it in descending order. ' +
      'Equal items are sorted by id.',
    shown.order,
    orderOf(shape),
  ),
  skip: parameter('The number of items to skip at the start.', 0, anyCount),
  limit: parameter(
    `The number of items on a page, ${standardLimit} by default. A number over ${largestLimit} counts as ${largestLimit}.`,
    2,
    anyCount,
  ),
  cursor: text(
    'Empty for the first page, then the `nextCursor` of the previous page. Cannot be combined with `skip`.',
    '',
  ),
  count: text('With `cursor`, `true` also counts the whole list.', 'true'),
})

const page = (schema: z.core.$ZodType, links?: AnswerContract['links']) =>
  ok('A page of the list.', schema, { headers: ['ETag'], ...(links && { links }) })

const listOf = (kind: ObjectKind): OperationContract => {
  const { many, examples } = objectKinds[kind]
  return {
    summary: `List the ${many} of a category`,
    query: listSwitches(associationShape(kind), {
      fields: `objectId,${kind}(${examples.shown})`,
      where: `{"${kind}.${examples.flag}":true}`,
      order: `-${kind}.${examples.date}`,
    }),
    answers: page(associationPage(kind)),
    errors: ['categoriesMalformed', 'listTooLong', 'categoryUnknown'],
    // C-27: the second request shows `objectId` alone.
    examples: [{ query: { limit: '1' } }, { query: { limit: '1', fields: `objectId,${examples.shown}` } }],
  }
}

const listAllOf = (kind: ObjectKind): OperationContract => {
  const { many, examples } = objectKinds[kind]
  return {
    summary: `List the ${many} of a site`,
    query: listSwitches(contentShape(kind), {
      fields: `id,${examples.shown}`,
      where: `{"${examples.flag}":true}`,
      order: `-${examples.date}`,
    }),
    answers: page(objectPage(kind), { [operationsOf(kind).listCategories]: { object: '$response.body#/items/0/id' } }),
    errors: ['categoriesMalformed', 'listTooLong'],
    examples: [{ query: { limit: '1' } }],
  }
}

const categorySwitches = listSwitches(contentShape('category'), {
  fields: 'name',
  where: '{"name":{"$beginsWith":"p"}}',
  order: '-name',
})

const firstCategory = { category: '$response.body#/items/0/id' }

const listCategoriesOf = (kind: ObjectKind): OperationContract => ({
  summary: `List the categories of ${oneOf(kind)}`,
  query: categorySwitches,
  answers: page(categoryPage, { getCategory: firstCategory }),
  errors: ['categoriesMalformed', 'listTooLong', 'objectUnknown'],
})

const id = z.int().check(z.minimum(1), z.maximum(largestContentId))

export const categoriesContract: GroupContract<'categories'> = {
  tag: {
    name: 'Categories',
    description:
      `The categories of a site and the ${manyObjects} linked with them. ` +
      'Answers are JSON. The site needs the new rendering engine.',
  },
  parameters: {
    category: parameter('The id of the category.', 1, id),
    object: parameter(
      `The id of ${objectKindNames.map((kind) => `the ${objectKinds[kind].one}`).join(' or of ')}.`,
      3,
      id,
    ),
  },
  operations: {
    ...ofEachKind((kind) => ({
      list: listOf(kind),
      link: linkOf(kind),
      unlink: unlinkOf(kind),
      listAll: listAllOf(kind),
      listCategories: listCategoriesOf(kind),
      linkCategories: linkCategoriesOf(kind),
      unlinkCategories: unlinkCategoriesOf(kind),
    })),
    listCategories: {
      summary: 'List the categories of a site',
      query: categorySwitches,
      answers: page(categoryPage, {
        getCategory: firstCategory,
        ...recordOf(objectKindNames.map((kind) => [operationsOf(kind).list, firstCategory])),
      }),
      errors: ['categoriesMalformed', 'listTooLong'],
    },
    getCategory: {
      summary: 'Read a category',
      query: fieldsSwitch('id,name'),
      answers: ok('The category.', category, {
        headers: ['ETag'],
        links: recordOf(
          objectKindNames.map(operationsOf).flatMap(({ list, link }) => [[list, {}] as const, [link, {}]]),
        ),
      }),
      errors: ['categoriesMalformed', 'categoryUnknown'],
    },
    listSiteUrls: {
      summary: 'List the addresses of a site',
      description: 'The list has one item: the base URL of the data centre of the site.',
      query: listSwitches(siteUrlShape, { fields: 'url', where: '{"siteId":1001}', order: 'url' }),
      answers: page(siteUrlPage),
      errors: ['categoriesMalformed'],
    },
  },
}
