import * as z from 'zod/mini'
import type { OperationDoc } from '../operation-doc.ts'

export const health = z
  .object({ status: z.literal('ok') })
  .register(z.globalRegistry, { id: 'Health', description: 'The service answers.' })

export const getHealthDoc: OperationDoc = {
  summary: 'See whether the service answers',
  answers: { 200: { description: 'It does.', schema: health } },
}
