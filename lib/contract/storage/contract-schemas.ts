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
      'An entry of a folder. `lastModified` of a folder is null here. With `recursive=true` every entry is a file ' +
        'with its `path` relative to the folder, its `etag` and its `fingerprint`.',
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
      'A file or a folder. `lastModified` of a folder is the time of its creation, or null if it was created ' +
        'together with a file. A file has `contentType`, `etag` (with its quotes, for `If-Match`) and `fingerprint`. ' +
        'Up to 8 MiB the fingerprint is the hex MD5 of the bytes. Above, it is the hex MD5 of the MD5s of parts of 8 ' +
        'MiB, `-` and the number of parts; a file that was copied whole may have the MD5 of its bytes in either ' +
        'form. It is null while it is unknown. A page has `draft` and `workflow`, which may be null. A folder has ' +
        '`contents`, sorted by name. If there are more, `cursor` is for the next request.',
    ),
  )

export const downloadLink = z
  .object({ url: z.url(), expires: z.iso.datetime() })
  .register(
    ...named(
      'DownloadLink',
      'A URL that downloads one version of a file as an attachment. Everybody who has it may use it until it expires.',
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
      'A state of a file. `at` is the time of the change that made it. `current` marks the present state. `removed` ' +
        'marks states that ended when the file was removed or moved; all others were replaced.',
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
  .register(...named('Deleted', 'A removed file or folder that has not come back. `size` of a folder is null.'))

export const removedPage = z
  .object({ deleted: z.array(removed), cursor: z.optional(z.string()) })
  .register(
    ...named(
      'DeletedPage',
      'Removed files and folders of a folder, sorted by name. If there are more, `cursor` is for the next request.',
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
      'The files, folders (with the folder itself) and bytes that a DELETE would remove, drafts included. `code` is ' +
        'the error of a DELETE that would be refused. `atLeast` is true if there is more than was counted.',
    ),
  )

// Bodies.

newName.register(...named('NewName', 'The new name of a file or folder: one segment.'))
newPath.register(
  ...named(
    'NewPath',
    'The new path of a file or folder as plain text, not percent-encoded. Missing folders are created.',
  ),
)
copyPath.register(
  ...named(
    'CopyPath',
    'The path of the copy as plain text, not percent-encoded. A folder may have up to 10,000 files and folders.',
  ),
)

export const bytes = z.file().register(...described('Bytes as they are.'))

export const form = z
  .object({ file: z.array(z.file()).check(z.minLength(1), z.maxLength(mostFiles)) })
  .register(...named('Files', 'Each part `file` is a file, stored under the file name of the part.'))

export const formBodies = { 'multipart/form-data': form }

export const fileTypes = ['application/octet-stream', '*/*']
