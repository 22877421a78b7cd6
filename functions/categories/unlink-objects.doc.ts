import type { ObjectKind } from '../../lib/categories/content-kinds.ts'
import type { OperationDoc } from '../operation-doc.ts'
import { unlinkedItems, unlinks } from './items-body.doc.ts'

const docOf = (plural: string): OperationDoc => ({
  summary: `Unlink ${plural} from a category`,
  description: 'Unlinking what is not linked is no error.',
  query: {
    items: {
      description:
        'The items, for clients that send no body with `DELETE`: a JSON text such as `[{"objectId":1}]`, `[1,2]` or `1`. It is read when there is no body.',
      schema: unlinkedItems,
      json: true,
      example: '[2,4]',
    },
  },
  body: {
    schema: unlinks,
    description:
      'Required unless `items` stands in the query. As a form, `items` is such a JSON text, or `items[0][objectId]=1`.',
  },
  answers: { 204: { description: 'None of them is linked.', headers: ['Location'] } },
  errors: ['categoriesMalformed', 'categoryUnknown'],
  examples: [{ body: { items: [{ objectId: 2 }, { objectId: 4 }] } }],
  provoked: { categoriesMalformed: { body: { items: [] } } },
})

export const unlinkObjectsDoc: Readonly<Record<ObjectKind, OperationDoc>> = {
  news: docOf('news items'),
  blog: docOf('blogs'),
}
