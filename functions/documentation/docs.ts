import * as z from 'zod/mini'
import type { GroupDoc } from '../operation-doc.ts'
import { getOpenApiDoc } from './get-openapi.doc.ts'
import { getReferenceDoc } from './get-reference.doc.ts'
import { getReferenceAssetDoc } from './get-reference-asset.doc.ts'
import { type ReferenceAsset, referenceAssets } from './reference-assets.ts'

const assetNames = Object.keys(referenceAssets) as ReferenceAsset[]

/** What the document says of this group. */
export const documentationDoc: GroupDoc<'documentation'> = {
  tag: { name: 'Service', description: 'What the service tells of itself, without a token.' },
  parameters: {
    asset: { description: 'The name of the file.', schema: z.enum(assetNames), example: 'swagger-ui.css' },
  },
  operations: {
    getOpenApi: getOpenApiDoc,
    getReference: getReferenceDoc,
    getReferenceAsset: getReferenceAssetDoc,
  },
}
