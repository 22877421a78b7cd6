import * as z from 'zod/mini'
import type { ParameterDocs } from '../operation-doc.ts'
import { siteParameter } from '../site.doc.ts'

/** The variables in the paths of this group. What is no id of anything there (`abc`, `07`) is answered like an unknown id. */
export const parameters: ParameterDocs = {
  site: siteParameter,
  webForm: { description: 'The id of the web form.', schema: z.int(), example: 1 },
  field: { description: 'The id of the field: the identifier of its type, such as -3.', schema: z.int(), example: -3 },
}
