import { associationShape, type ObjectKind } from '../../lib/categories/content-kinds.ts'
import type { OperationDoc, Provoked } from '../operation-doc.ts'
import { associationPages } from './answers.doc.ts'
import { listSwitches } from './query.doc.ts'

const docOf = (
  kind: ObjectKind,
  { plural, id, name }: { plural: string; id: string; name: string },
  provoked: Provoked,
): OperationDoc => ({
  summary: `List the ${plural} of a category`,
  query: listSwitches(associationShape(kind), {
    id: `${id}Where`,
    fields: `objectId,${kind}(${name})`,
    where: `{"${kind}.enabled":true}`,
    order: `-${kind}.releaseDate`,
  }),
  answers: { 200: { description: 'A page of the list.', schema: associationPages[kind], headers: ['ETag'] } },
  errors: ['categoriesMalformed', 'listTooLong', 'categoryUnknown'],
  examples: [{ query: { limit: '1' } }],
  provoked,
})

export const listObjectsDoc: Readonly<Record<ObjectKind, OperationDoc>> = {
  news: docOf(
    'news',
    { plural: 'news items', id: 'News', name: 'subject,slug' },
    {
      categoriesMalformed: { query: { order: 'colour', limit: 'many' } },
      listTooLong: { query: { order: '-releaseDate' }, at: 'hampered' },
    },
  ),
  blog: docOf('blog', { plural: 'blogs', id: 'Blog', name: 'blogName' }, {}),
}
