import * as z from 'zod/mini'
import { mostFiles } from '../../storage/upload-files.ts'
import { described, link, named } from '../contract.ts'
import { copyPath, newName, newPath } from './switches.ts'

// Answers. The operations write values of these types.

export const success = z.object({ status: z.literal('success') }).register(...named('Stored', 'The request is done.'))

export const deleting = z
  .object({ status: z.literal('deleting') })
  .register(...named('Deleting', 'The service deletes the rest of the folder after this answer.'))

export const progress = z
  .object({ percent: z.int().check(z.minimum(0), z.maximum(100)) })
  .register(...named('Progress', "The progress of the token's newest upload."))

const count = z.int().check(z.minimum(0))

const entryMembers = {
  name: z.string(),
  type: z.enum(['file', 'folder']).register(...named('EntryType')),
  size: count,
  lastModified: z.nullable(z.iso.datetime()),
  links: z.array(link),
}

const stateMembers = {
  etag: z.optional(z.string()),
  fingerprint: z.optional(z.nullable(z.string())),
}

export const content = z
  .object({ ...entryMembers, path: z.optional(z.string()), ...stateMembers })
  .register(
    ...named(
      'FolderContent',
      'An entry of a folder. `lastModified` of a folder is null here. With `recursive=true` each is a file, with its `path` from that folder on, ' +
        'its `ETag` and its `fingerprint`.',
    ),
  )

const draft = z
  .object({ size: entryMembers.size, lastModified: z.iso.datetime() })
  .register(...named('Draft', 'The draft of a page.'))

export const entry = z
  .object({
    ...entryMembers,
    contentType: z.optional(z.string()),
    ...stateMembers,
    draft: z.optional(z.nullable(draft)),
    workflow: z.optional(z.nullable(z.literal('running'))),
    contents: z.optional(z.array(content)),
    cursor: z.optional(z.string()),
  })
  .register(
    ...named(
      'Entry',
      'A file or a folder. `lastModified` of a folder is when it was created, and null when nobody created it by itself. ' +
        'A file has `contentType`, `etag` (its `ETag`, quotes included, for `If-Match`) and `fingerprint`: of up to 8 MiB the hex MD5 of its bytes; ' +
        'of a larger file the hex MD5 of the MD5s of its parts of 8 MiB, `-` and their number, or, if it was copied as a whole, its MD5 in either form; ' +
        'null while it is not known. A page has `draft` and `workflow`, each null when there is none. ' +
        'A folder has `contents`, sorted by name; when these go on, `cursor` is for the next request.',
    ),
  )

export const downloadLink = z
  .object({ url: z.url(), expires: z.iso.datetime() })
  .register(
    ...named(
      'DownloadLink',
      'A URL of one version of a file, as an attachment. Everybody who has it may use it until it expires.',
    ),
  )

// Answers about earlier states and about removals.

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
      'A state of a file. `at` is when it began. `current` marks the present one. `removed` marks states in which the file was removed or moved away; ' +
        'all others were replaced.',
    ),
  )

export const versionPage = z
  .object({ versions: z.array(version), cursor: z.optional(z.string()) })
  .register(
    ...named(
      'VersionPage',
      'The kept states of a file, the newest first. If there are more, `cursor` is for the next request.',
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
      'What was removed from a folder, sorted by name. If there is more, `cursor` is for the next request.',
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
      'What a DELETE would remove, with the folder itself and drafts. `code` is that of the error that it would answer; `atLeast` says that there is more.',
    ),
  )

// Bodies.

newName.register(...named('NewName', 'The new name of a file or folder: one segment.'))
newPath.register(
  ...named(
    'NewPath',
    'Where a file or folder is moved to: a path as plain text, not percent-encoded. Folders on the way are created.',
  ),
)
copyPath.register(
  ...named(
    'CopyPath',
    'Where a file, or a folder of up to 10,000 files and folders, is copied to: a path as plain text, not percent-encoded.',
  ),
)

export const bytes = z.file().register(...described('Bytes as they are.'))

export const form = z
  .object({ file: z.array(z.file()).check(z.minLength(1), z.maxLength(mostFiles)) })
  .register(...named('Files', 'Each part `file` is a file, under the name that the part gives.'))

export const formBodies = { 'multipart/form-data': form }

export const fileTypes = ['application/octet-stream', '*/*']
