import * as z from 'zod/mini'
import { mostFiles } from '../../storage/changes/upload.ts'
import { component, described, flag, link, named, type ParameterContracts, text } from '../contract.ts'
import { copyPath, force, movePath, partsBody, renamePath, restorationOrParts, restoreBody } from './switches.ts'

export const success = component('Stored', 'The request has succeeded.', { status: z.literal('success') })

export const deleting = component('Deleting', 'The service deletes the rest of the folder after this answer.', {
  status: z.literal('deleting'),
})

export const progress = component('Progress', "The progress of the token's newest upload.", {
  percent: z.int().check(z.minimum(0), z.maximum(100)),
})

const count = z.int().check(z.minimum(0))

const part = z.int().check(z.minimum(1), z.maximum(10_000))

const partAddress = component(
  'PartAddress',
  'The address of a part, valid for an hour. PUT its bytes there with these headers, and without the token.',
  { number: part, url: z.url(), headers: z.record(z.string(), z.string()) },
)

export const uploadState = component(
  'UploadState',
  'The state of an upload. `stored` has the numbers of its stored parts. `addresses` has the addresses ' +
    'that the request asks for.',
  {
    size: z.nullable(count),
    inParts: z.boolean(),
    complete: z.boolean(),
    stored: z.array(part),
    addresses: z.array(partAddress),
  },
)

const entryMembers = {
  name: z.string(),
  type: named(z.enum(['file', 'folder']), 'EntryType'),
  size: count,
  lastModified: z.nullable(z.iso.datetime()),
  links: z.array(link),
}

const stateMembers = { etag: z.optional(z.string()), fingerprint: z.optional(z.nullable(z.string())) }

export const content = component(
  'FolderContent',
  'An entry of a folder. Here, `lastModified` of a folder is null. With `recursive=true` every entry is ' +
    'a file with its `path` relative to the folder, `etag` and `fingerprint`.',
  { ...entryMembers, path: z.optional(z.string()), ...stateMembers },
)

const draft = component('Draft', 'The draft of a page.', { size: entryMembers.size, lastModified: z.iso.datetime() })

export const entry = component(
  'Entry',
  'A file or a folder. `lastModified` of a folder is the time of its creation, or null if it was created together ' +
    'with a file. A file has `contentType`, `etag` (with its quotes, for `If-Match`) and `fingerprint`. The ' +
    'fingerprint of a file of up to 8 MiB is the hex MD5 of its bytes. For a larger file, it is the hex MD5 of the ' +
    'MD5s of its parts of 8 MiB, `-` and the number of parts. If a larger file was copied as a whole, the ' +
    'fingerprint may be the hex MD5 of its bytes. A smaller file may have the second form, which then ends in `-1`. ' +
    'An unknown fingerprint is null. A page has `draft` and `workflow`, which may be null. A folder has `contents`, ' +
    'sorted by name. If there are more entries, send `cursor` with the next request.',
  {
    ...entryMembers,
    contentType: z.optional(z.string()),
    ...stateMembers,
    draft: z.optional(z.nullable(draft)),
    workflow: z.optional(z.nullable(z.literal('running'))),
    contents: z.optional(z.array(content)),
    cursor: z.optional(z.string()),
  },
)

export const downloadLink = component(
  'DownloadLink',
  'A URL that downloads one version of a file as an attachment. Everybody who has the URL may use it ' +
    'until it expires.',
  { url: z.url(), expires: z.iso.datetime() },
)

const version = component(
  'Version',
  'A state of a file. `at` is the time of the change that made this state. `current` marks the current state. ' +
    '`removed` marks a state that ended when the file was removed or moved; other old states were replaced.',
  { version: z.string(), at: z.iso.datetime(), size: count, removed: z.boolean(), current: z.boolean() },
)

export const versionPage = component(
  'VersionPage',
  'The kept states of a file, the newest first. If there are more, send `cursor` with the next request.',
  { versions: z.array(version), cursor: z.optional(z.string()) },
)

const removed = component(
  'Deleted',
  'A removed file or folder that was not restored or created again. `size` of a folder is null.',
  { name: z.string(), type: z.enum(['file', 'folder']), removedAt: z.iso.datetime(), size: z.nullable(count) },
)

export const removedPage = component(
  'DeletedPage',
  'Removed files and folders of a folder, sorted by name. If there are more, send `cursor` with the next request.',
  { deleted: z.array(removed), cursor: z.optional(z.string()) },
)

const trashItem = component('TrashItem', 'A removed file or folder. A folder has no size of its own.', {
  path: z.string(),
  type: removed.shape.type,
  removedAt: z.iso.datetime(),
  removedBy: z.string(),
  size: z.nullable(count),
})

export const trashPage = component(
  'TrashPage',
  'Removed files and folders that a restore can bring back, the newest removal first, with the user who removed each. ' +
    'Moved files are not listed. If there are more, `nextCursor` is the `cursor` of the next request; a page may ' +
    'then be short.',
  { deleted: z.array(trashItem), nextCursor: z.optional(z.string()) },
)

const foundItem = component('FoundItem', 'A file or folder whose name contains the text.', {
  path: z.string(),
  type: entryMembers.type,
  size: count,
  lastUpdateDate: z.iso.datetime(),
})

export const searchPage = component(
  'SearchPage',
  'Files and folders whose names contain the text. If there may be more, `nextCursor` is the `cursor` of the next ' +
    'request; a page may then be short.',
  { items: z.array(foundItem), nextCursor: z.optional(z.string()) },
)

export const removalPreview = component(
  'RemovalPreview',
  'The files, folders (with the folder itself) and bytes that a DELETE would remove, drafts included. If the DELETE ' +
    'would be refused, `code` is the code of the error. `atLeast` is true if the folder has more than was counted.',
  { files: count, folders: count, bytes: count, atLeast: z.optional(z.boolean()), code: z.optional(z.int()) },
)

/** The answers in JSON to a GET, by its switches. */
export const rootViews = z.union([progress, entry, searchPage, removedPage, trashPage, removalPreview])
export const pathViews = z.union([entry, downloadLink, searchPage, versionPage, removedPage, trashPage, removalPreview])

named(force, 'Force')
named(
  restoreBody,
  'Restoration',
  'Restores the newest kept state of a file, or the state that `version` names. With `replace: true`, the ' +
    'restored state replaces the current one.',
)
named(partsBody, 'PartsUpload', 'The file of an upload in parts.')
named(restorationOrParts, 'RestorationOrParts')
named(renamePath, 'RenamePath', 'The new name of a file or folder, without slashes.')
named(
  movePath,
  'MovePath',
  'The new path of a file or folder as plain text, not percent-encoded. Missing folders are created.',
)
named(
  copyPath,
  'CopyPath',
  'The path of the copy as plain text, not percent-encoded. A folder to copy may have up to 10,000 files and folders.',
)

export const bytes = described(z.file(), 'The bytes of the file.')

export const form = component('Files', `1 to ${mostFiles} parts \`file\`, each stored under its file name.`, {
  file: z.array(z.file()),
})

export const formBodies = { 'multipart/form-data': form }

export const fileTypes = ['application/octet-stream', '*/*']

export const meta = flag('Asks for information about the path instead of its bytes.')

export const noneMatch: ParameterContracts = {
  'If-None-Match': text(
    'With `*`, makes the change only if no file is at the path. With ETags, makes the change only if none of them ' +
      'names the current state.',
    '"an-etag-of-before"',
  ),
}

export const pathLinks = { readPath: {}, deletePath: {} }
