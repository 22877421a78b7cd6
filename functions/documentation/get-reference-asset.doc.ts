import type { OperationDoc } from '../operation-doc.ts'
import { referenceAssets } from './reference-assets.ts'

export const getReferenceAssetDoc: OperationDoc = {
  summary: 'Get a file that the page is drawn with',
  answers: {
    200: {
      description: 'The file.',
      mediaTypes: Object.values(referenceAssets).map(({ type }) => type),
      headers: ['ETag'],
    },
  },
  examples: Object.keys(referenceAssets).map((asset) => ({ path: { asset } })),
  shownByAddress: true,
}
