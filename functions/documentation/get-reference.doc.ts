import type { OperationDoc } from '../operation-doc.ts'

export const getReferenceDoc: OperationDoc = {
  summary: 'Read this document as a page',
  answers: { 200: { description: 'The page.', mediaTypes: ['text/html'] } },
}
