import type { ObjectKind } from '../../lib/categories/content-kinds.ts'
import type { OperationDoc } from '../operation-doc.ts'
import { categoryPage } from './answers.doc.ts'
import { categorySwitches } from './list-categories.doc.ts'

const docOf = (singular: string): OperationDoc => ({
  summary: `List the categories of a ${singular}`,
  query: categorySwitches,
  answers: {
    200: {
      description: 'A page of the list.',
      schema: categoryPage,
      headers: ['ETag'],
      links: { getCategory: { category: '$response.body#/items/0/id' } },
    },
  },
  errors: ['categoriesMalformed', 'listTooLong', 'objectUnknown'],
  provoked: { objectUnknown: { path: { object: 404 } } },
})

export const listCategoriesOfObjectDoc: Readonly<Record<ObjectKind, OperationDoc>> = {
  news: docOf('news item'),
  blog: docOf('blog'),
}
