import * as z from 'zod/mini'
import type { OperationDoc } from '../operation-doc.ts'

const document = z
  .looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) })
  .register(z.globalRegistry, { id: 'OpenApi', description: 'An OpenAPI document.' })

export const getOpenApiDoc: OperationDoc = {
  summary: 'Read this document',
  answers: {
    200: {
      description: 'The document, with the address of the data centre that answers.',
      schema: document,
      headers: ['ETag'],
    },
  },
  shownByAddress: true,
}
