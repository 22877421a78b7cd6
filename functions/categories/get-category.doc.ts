import type { OperationDoc } from '../operation-doc.ts'
import { category } from './answers.doc.ts'
import { fieldsSwitch } from './query.doc.ts'

export const getCategoryDoc: OperationDoc = {
  summary: 'Read a category',
  query: fieldsSwitch('id,name'),
  answers: {
    200: {
      description: 'The category.',
      schema: category,
      headers: ['ETag'],
      links: { listNewsOfCategory: {}, linkNews: {}, listBlogsOfCategory: {}, linkBlogs: {} },
    },
  },
  errors: ['categoriesMalformed', 'categoryUnknown'],
  provoked: { categoryUnknown: { path: { category: 404 } } },
}
