import * as z from 'zod/mini'
import { named } from '../contract.ts'

// What the document says of what was, and of what would go.

const count = z.int().check(z.minimum(0))

const version = z
  .object({
    version: z.string(),
    at: z.iso.datetime(),
    size: count,
    removed: z.boolean(),
    current: z.boolean(),
  })
  .register(
    ...named(
      'Version',
      'A state of a file. `at` is when it came to be; `current` is the one that is there; `removed` is one in which the file was removed, or moved away: ' +
        'all others were replaced.',
    ),
  )

export const versionPage = z
  .object({ versions: z.array(version), cursor: z.optional(z.string()) })
  .register(
    ...named(
      'VersionPage',
      'The states of a file that are kept, the newest first; when they go on, `cursor` is for the next request.',
    ),
  )

const removed = z
  .object({
    name: z.string(),
    type: z.enum(['file', 'folder']),
    removedAt: z.iso.datetime(),
    size: z.nullable(count),
  })
  .register(
    ...named('Deleted', 'A file or a folder that was removed and is not there again. `size` of a folder is null.'),
  )

export const removedPage = z
  .object({ deleted: z.array(removed), cursor: z.optional(z.string()) })
  .register(
    ...named(
      'DeletedPage',
      'What was removed from a folder, sorted by name; when it goes on, `cursor` is for the next request.',
    ),
  )

export const removalPreview = z
  .object({
    files: count,
    folders: count,
    bytes: count,
    atLeast: z.optional(z.boolean()),
    code: z.optional(z.int()),
  })
  .register(
    ...named(
      'RemovalPreview',
      'What a DELETE would take along, the folder itself and drafts included. `code` is that of the error that it would end with; `atLeast` says that there is more.',
    ),
  )
