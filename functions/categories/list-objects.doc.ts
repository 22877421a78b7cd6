import { associationShape, type ObjectKind } from '../../lib/categories/content-kinds.ts'
import type { OperationDoc } from '../operation-doc.ts'
import { associationPages } from './answers.doc.ts'
import { listSwitches } from './query.doc.ts'

const docOf = (kind: ObjectKind, plural: string, id: string, name: string): OperationDoc => ({
  summary: `List the ${plural} of a category`,
  query: listSwitches(associationShape(kind), {
    id: `${id}Where`,
    fields: `objectId,${kind}(${name})`,
    where: `{"${kind}.enabled":true}`,
    order: `-${kind}.releaseDate`,
  }),
  answers: { 200: { description: 'A page of the list.', schema: associationPages[kind], headers: ['ETag'] } },
  errors: ['categoriesMalformed', 'listTooLong', 'categoryUnknown'],
  example: { query: { limit: '1' } },
})

export const listObjectsDoc: Readonly<Record<ObjectKind, OperationDoc>> = {
  news: docOf('news', 'news items', 'News', 'subject,slug'),
  blog: docOf('blog', 'blogs', 'Blog', 'blogName'),
}
