import { categoryShape } from '../../lib/categories/content-kinds.ts'
import type { OperationDoc } from '../operation-doc.ts'
import { categoryPage } from './answers.doc.ts'
import { listSwitches } from './query.doc.ts'

export const categorySwitches = listSwitches(categoryShape, {
  id: 'CategoryWhere',
  fields: 'name',
  where: '{"name":{"$beginsWith":"p"}}',
  order: '-name',
})

export const listCategoriesDoc: OperationDoc = {
  summary: 'List the categories of a site',
  query: categorySwitches,
  answers: {
    200: {
      description: 'A page of the list.',
      schema: categoryPage,
      headers: ['ETag'],
      links: {
        getCategory: { category: '$response.body#/items/0/id' },
        listNewsOfCategory: { category: '$response.body#/items/0/id' },
        listBlogsOfCategory: { category: '$response.body#/items/0/id' },
      },
    },
  },
  errors: ['categoriesMalformed', 'listTooLong'],
}
