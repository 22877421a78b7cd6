import * as z from 'zod/mini'

/** The body of a rename: one segment, which the rules of names check. */
export const newNameBody = z.object({ name: z.string('must be the new name') }, 'must be an object')
