import * as z from 'zod/mini'
import { type ObjectKind, objectKindNames, oneOf } from '../../core/content-kinds.ts'
import { objectKinds } from '../../core/object-kinds.ts'
import { component, created, named, type OperationContract, text } from '../contract.ts'
import { operationsOf } from '../routes/categories.ts'
import * as bodies from './items-body.ts'

// Bodies, as the document shows them. items-body.ts accepts more spellings.

// A pattern cannot state the largest id, so this pattern allows only numbers with few digits.
bodies.numericString.register(z.globalRegistry, { pattern: '^[1-9]\\d{0,8}$' })
named(bodies.objectId, 'ObjectId', `The id of ${objectKindNames.map(oneOf).join(' or of ')}.`)
named(bodies.categoryId, 'CategoryId', 'The id of a category.')
named(bodies.displayable, 'Displayable', '1 shows the object in the category, 0 hides it.')

const itemLinks = component('ItemLinks', 'The objects to link with the category.', {
  items: bodies.itemsOf(named(bodies.linkItem, 'LinkedItem'), 'objectId'),
})

const oneOrSeveral = (one: z.core.$ZodType, member: 'objectId' | 'categoryId', id: string) => {
  const article = member === 'objectId' ? 'an' : 'a'
  const meaning = `Objects with ${article} \`${member}\`, or ids. A single object or id needs no array.`
  return named(z.union([bodies.itemsOf(one, member), one]), id, meaning)
}

const unlinkedItem = z.union([named(bodies.unlinkItem, 'UnlinkedItem'), bodies.objectId])
const itemUnlinks = component('ItemUnlinks', 'The objects to unlink from the category.', {
  items: oneOrSeveral(unlinkedItem, 'objectId', 'UnlinkedItems'),
})

const categoryLinks = component('CategoryLinks', 'The categories to link the object with.', {
  items: bodies.itemsOf(named(bodies.linkCategoryItem, 'LinkedCategory'), 'categoryId'),
})

const unlinkedCategory = z.union([named(bodies.unlinkCategoryItem, 'UnlinkedCategory'), bodies.categoryId])
const categoryUnlinks = component('CategoryUnlinks', 'The categories to unlink the object from.', {
  items: oneOrSeveral(unlinkedCategory, 'categoryId', 'UnlinkedCategories'),
})

const unlinkedBy = (member: string, body: z.core.$ZodType, example: string) => ({
  query: {
    items: text(
      `The items as a JSON text, for clients that send no body with \`DELETE\`: \`[{"${member}":1}]\`, ` +
        '`[1,2]` or `1`. If the request has a body, this parameter is ignored.',
      example,
    ),
  },
  body: {
    optional: true as const,
    schema: body,
    description:
      `Required unless the query has \`items\`. In a form, \`items\` is a JSON text too, or \`items[0][${member}]=1\`. ` +
      'A form is also accepted under `Content-Type: application/json`.',
  },
  answers: { 204: { description: 'The given links no longer exist.', headers: ['Location'] as const } },
})

const linkable = (body: z.core.$ZodType, follow: string) => ({
  description:
    'If one of the categories or objects does not exist, nothing is linked. A repeated link also succeeds, and keeps the ' +
    '`displayable` of the link unless the request sends another.',
  body: { schema: body },
  answers: created('All given objects and categories are linked.', undefined, {
    headers: ['Location'],
    links: { [follow]: {} },
  }),
})

export const linkOf = (kind: ObjectKind): OperationContract => ({
  summary: `Link ${objectKinds[kind].many} with a category`,
  ...linkable(itemLinks, operationsOf(kind).list),
  errors: ['categoriesMalformed', 'categoryUnknown', 'objectsUnknown'],
  examples: [
    { body: { items: [{ objectId: 2 }, { objectId: 4, displayable: 0 }] } },
    { body: { items: [{ objectId: 'two' }, { displayable: 2 }] } },
    { body: { items: [{ objectId: 2 }, { objectId: 404 }] } },
  ],
})

export const unlinkOf = (kind: ObjectKind): OperationContract => ({
  summary: `Unlink ${objectKinds[kind].many} from a category`,
  description: 'A request to unlink an object that is not linked also succeeds.',
  ...unlinkedBy('objectId', itemUnlinks, '[2,4]'),
  errors: ['categoriesMalformed', 'categoryUnknown'],
  examples: [{ body: { items: [{ objectId: 2 }, { objectId: 4 }] } }],
})

export const linkCategoriesOf = (kind: ObjectKind): OperationContract => ({
  summary: `Link ${oneOf(kind)} with categories`,
  ...linkable(categoryLinks, operationsOf(kind).listCategories),
  errors: ['categoriesMalformed', 'objectUnknown', 'categoriesUnknown'],
  examples: [
    { body: { items: [{ categoryId: 1 }, { categoryId: 2, displayable: 0 }] } },
    { body: { items: [{ categoryId: 1 }, { categoryId: 404 }] } },
  ],
})

export const unlinkCategoriesOf = (kind: ObjectKind): OperationContract => ({
  summary: `Unlink ${oneOf(kind)} from categories`,
  description:
    'If one of the categories or objects does not exist, nothing is unlinked. A request to unlink an object that is not linked also ' +
    'succeeds.',
  ...unlinkedBy('categoryId', categoryUnlinks, '[1,2]'),
  errors: ['categoriesMalformed', 'objectUnknown', 'categoriesUnknown'],
  examples: [{ body: { items: [{ categoryId: 2 }] } }],
})
