import type { ObjectKind } from '../../lib/categories/content-kinds.ts'
import type { OperationDoc } from '../operation-doc.ts'
import { links as body } from './items-body.doc.ts'

const docOf = (plural: string, links: NonNullable<OperationDoc['answers'][number]['links']>): OperationDoc => ({
  summary: `Link ${plural} with a category`,
  description:
    'All of them must exist, or nothing is linked. Linking again is no error, and keeps `displayable` unless it is sent.',
  body: { schema: body },
  answers: { 201: { description: 'All of them are linked.', headers: ['Location'], links } },
  errors: ['categoriesMalformed', 'categoryUnknown', 'objectsUnknown'],
  examples: [{ body: { items: [{ objectId: 2 }, { objectId: 4, displayable: 0 }] } }],
  provoked: {
    categoriesMalformed: { body: { items: [{ objectId: 'two' }, { displayable: 2 }] } },
    objectsUnknown: { body: { items: [{ objectId: 2 }, { objectId: 404 }] } },
    mediaTypeUnsupported: { headers: { 'Content-Type': 'text/plain' }, body: '2' },
  },
})

export const linkObjectsDoc: Readonly<Record<ObjectKind, OperationDoc>> = {
  news: docOf('news items', { listNewsOfCategory: {} }),
  blog: docOf('blogs', { listBlogsOfCategory: {} }),
}
