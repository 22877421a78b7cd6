import * as z from 'zod/mini'

/** A link in an answer (api.md, "Resources and their fields"). */
export const link = z.object({ rel: z.string(), uri: z.nullable(z.string()) }).register(z.globalRegistry, {
  id: 'Link',
  description: 'Where something is: an absolute URL, or null when there is no such thing.',
})
