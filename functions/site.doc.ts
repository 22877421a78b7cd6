import * as z from 'zod/mini'
import type { ParameterDoc } from './operation-doc.ts'

/** The path variable that all areas share. */
export const siteParameter: ParameterDoc = {
  description: 'The id of the site, or `current`: the one site that the token covers.',
  schema: z.union([z.literal('current'), z.int()]),
  example: 'current',
}
