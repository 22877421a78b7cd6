import * as z from 'zod/mini'
import { link } from '../link.doc.ts'

/** What the operations on files answer. Those are typed by these; only the document loads them. */
export const success = z
  .object({ status: z.literal('success') })
  .register(z.globalRegistry, { id: 'Stored', description: 'It is done.' })

export const deleting = z
  .object({ status: z.literal('deleting') })
  .register(z.globalRegistry, { id: 'Deleting', description: 'The rest of the folder goes on being deleted.' })

export const progress = z
  .object({ percent: z.int().check(z.minimum(0), z.maximum(100)) })
  .register(z.globalRegistry, { id: 'Progress', description: "The progress of the token's newest upload." })

const entryMembers = {
  name: z.string(),
  type: z.enum(['file', 'folder']),
  size: z.int().check(z.minimum(0)),
  lastModified: z.nullable(z.iso.datetime()),
  links: z.array(link),
}

export const content = z
  .object(entryMembers)
  .register(z.globalRegistry, { id: 'FolderContent', description: 'What a folder holds.' })

export const entry = z
  .object({ ...entryMembers, contents: z.optional(z.array(content)), cursor: z.optional(z.string()) })
  .register(z.globalRegistry, {
    id: 'Entry',
    description:
      'A file or a folder. A folder has `contents`, sorted by name; when these go on, `cursor` is for the next request.',
  })

const jsonFile = z.unknown().register(z.globalRegistry, { description: 'Without `meta`: what a JSON file holds.' })

export const entryOrFile = z.union([entry, jsonFile])
export const progressOrEntry = z.union([progress, entry])
