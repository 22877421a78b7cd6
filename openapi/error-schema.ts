import * as z from 'zod/mini'
import { errors } from '../lib/errors.ts'

const problem = z.object({ path: z.string(), message: z.string() }).register(z.globalRegistry, {
  id: 'Problem',
  description: 'One thing that is wrong: where, and what to do about it.',
})

/** The one error body (decisions.md, section 2), which lib/http/render-error.ts writes. */
export const errorSchema = z
  .object({
    code: z.literal([...new Set(Object.values(errors).map(({ code }) => code))].sort((a, b) => a - b)),
    message: z.string(),
    requestId: z.string(),
    errors: z.optional(z.array(problem)),
  })
  .register(z.globalRegistry, {
    id: 'Error',
    description:
      'Says what went wrong. `errors` is there where several things are wrong with a request, and names each.',
  })
