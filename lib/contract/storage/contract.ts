import { flag, type GroupContract, ok, type ParameterContracts, switchesOf, text } from '../contract.ts'
import { changesOperation } from './contract-history.ts'
import { deleting, fileTypes, meta, noneMatch, pathViews, rootViews } from './contract-schemas.ts'
import { uploadOperations } from './contract-uploads.ts'
import { deleteSwitches, listing } from './switches.ts'

const listSwitches = switchesOf(listing, {
  limit: ['The largest number of entries in an answer to `meta`, `search`, `versions` or `deleted`.', 100],
  cursor: ['The `cursor` or `nextCursor` of the previous answer.', ''],
  recursive: [
    'For `meta`: with `true`, the answer instead lists every file below the folder, up to 1,000 per ' +
      'answer, sorted by path.',
    'true',
  ],
})

const folderSwitches: ParameterContracts = {
  search: text(
    'Lists files and folders below the folder whose names contain this text, in upper or lower case: 100 by default ' +
      '(`limit`).',
    'hello',
  ),
  deleted: text(
    'Without a value, lists removed files and folders of this folder that were not restored or created again: 100 by ' +
      'default (`limit`). The folder itself may be removed. With `all`, also lists removed files and folders of ' +
      'the folders below, the newest removal first, at most 100.',
    '',
  ),
  removal: flag('Shows what a DELETE of the path would remove, and removes nothing.'),
}

const deletion = switchesOf(deleteSwitches, {
  version: [
    '`draft` deletes only the draft of a page. Requests for folders and other files ignore this parameter.',
    'draft',
  ],
  force: ['With `false`, the request deletes a folder only if it is empty.', 'false'],
})

const pathErrors = ['conditionFailed', 'storageRefused', 'fileUnknown', 'notAFile', 'pathUnknown'] as const

const validators = ['ETag', 'Last-Modified', 'Accept-Ranges'] as const

export const storageContract: GroupContract<'storage'> = {
  tag: {
    name: 'Files',
    description:
      'The files and folders of a site. The token needs the permission "Can use SFTP & File Manager" ' +
      '(`files`), or a right on every path that the request uses: `files:write`, or `files:write:/news` for ' +
      'one folder. The token may also be sent in the query.',
  },
  parameters: {
    path: text(
      'The path of a file or folder, percent-encoded: UTF-8 segments of up to 255 bytes, separated by slashes, 900 ' +
        'bytes in all. Several slashes count as one. The first `npm start` creates the files of the examples.',
      'notes',
    ),
    upload: text(
      'The id of a resumable upload, from the `Location` of the answer that began it.',
      '5f0c8a529d1e4b7a8c650e2d9f417ab3',
    ),
  },
  operations: {
    readRoot: {
      summary: 'Show the progress of an upload, or the contents of the root of the storage',
      description: 'Send `status` or `meta`. If you send both, `meta` is ignored.',
      query: {
        status: text(
          "Asks for the progress of the token's newest upload. The value of the parameter may be the token.",
          '',
        ),
        meta: { ...meta, sentByDefault: true },
        ...listSwitches,
        ...folderSwitches,
      },
      answers: ok(
        'The progress, the contents of the root, the results of a search, removed files and folders, or the preview of a ' +
          'removal.',
        rootViews,
      ),
      errors: ['storageRefused', 'fileUnknown', 'notAFile'],
      examples: [
        { query: { status: '' } },
        { query: { deleted: '' } },
        { query: { deleted: 'all' } },
        { query: { search: 'hello' } },
        { query: { removal: '' } },
        { query: { meta: '', limit: 'all' } },
      ],
    },
    readPath: {
      summary: 'Read a file, information about a path, its history or a download link',
      pathExamples: { path: 'hello.txt' },
      description:
        'The media type of the answer is `application/octet-stream`, unless `Accept` names the media type of the ' +
        'file or its group (`text/*`). If no file has the path as written, upper and lower case are ignored.',
      query: {
        meta,
        ...listSwitches,
        link: flag(
          'Asks for a URL that downloads the current version of the file as an attachment. Everybody who has ' +
            'the URL may use it for five minutes.',
        ),
        versions: flag('Lists the states of the live file: 100 by default (`limit`).'),
        versionId: text(
          'Reads this version of the file instead of the current one. `versions` lists the ids.',
          'a-version-of-the-file',
        ),
        ...folderSwitches,
        version: text(
          '`draft` reads the draft of a page, or the live file if the page has no draft. Other values are ignored.',
          'draft',
        ),
      },
      headers: {
        Range: text('One range of bytes. A header with several ranges is ignored.', 'bytes=0-4'),
        'If-Range': text(
          'The ETag or Last-Modified of a part that you have. If the file has changed since, the answer has the ' +
            'whole file.',
          'Sat, 31 Jan 2026 12:00:00 GMT',
        ),
        'If-Modified-Since': text(
          'The Last-Modified of the file that you have. If the file still has this time, the answer is 304.',
          'Sat, 31 Jan 2026 12:00:00 GMT',
        ),
      },
      answers: {
        ...ok(
          'The bytes of the file. With `meta`, information about the path; with `link`, a URL of the bytes; with ' +
            '`search`, the entries that match; with `versions` or `deleted`, the history; with `removal`, the preview of a ' +
            'removal.',
          pathViews,
          { mediaTypes: fileTypes, optionalHeaders: [...validators, 'X-Content-Length'] },
        ),
        206: {
          description: 'The bytes that `Range` asks for.',
          mediaTypes: fileTypes,
          headers: [...validators, 'Content-Range'],
          optionalHeaders: ['X-Content-Length'],
        },
        302: {
          description:
            'The bytes are at a URL that expires. This happens when the file is too large for an answer, or when ' +
            'it is not text and the request has no `Accept`. A service on one machine never gives this answer.',
          headers: ['Location', 'Cache-Control'],
        },
        304: {
          description: 'The file has not changed: `If-None-Match` or `If-Modified-Since` names its current state.',
          headers: ['ETag', 'Accept-Ranges'],
          // Gateways may remove Last-Modified if `ETag` exists (RFC 9110, section 15.4.5).
          optionalHeaders: ['Last-Modified'],
        },
      },
      errors: [...pathErrors, 'urlInvalid', 'nameTooLong', 'rangeNotSatisfiable'],
      examples: [
        { path: { path: 'press' }, query: { meta: '' } },
        { path: { path: 'press' }, query: { meta: '', recursive: 'true' } },
        { query: { meta: '' } },
        { query: { link: '' } },
        { query: { versions: '' } },
        { path: { path: 'press' }, query: { removal: '' } },
        {},
        { headers: { Range: 'bytes=0-4' } },
      ],
    },
    deletePath: {
      summary: 'Delete a file, a draft or a folder with its contents, or purge old versions',
      description:
        'A deleted file or folder can be restored. A purged version cannot. If a purge does not finish, the ' +
        'answer is an error 503, and the versions purged so far stay purged: repeat the request.',
      pathExamples: { path: 'old' },
      query: {
        ...deletion,
        versions: flag(
          'Purges the old versions of the file and of its draft, including versions from before a removal. The ' +
            'file itself stays.',
        ),
        versionId: text('Purges only this version of the file. `versions` lists the ids.', 'a-version-of-the-file'),
      },
      headers: noneMatch,
      answers: {
        200: { description: 'The file, draft or folder is deleted, or the versions are purged.' },
        202: { description: 'The folder is large: the service deletes the rest after this answer.', schema: deleting },
      },
      errors: [...pathErrors, 'folderLocked', 'workflowDeleted', 'nameRequired', 'folderReserved', 'folderNotEmpty'],
      examples: [
        { path: { path: 'notes' }, query: { force: 'true' } },
        { path: { path: 'archive/2025' } },
        { path: { path: 'hello.txt' }, query: { versions: '' } },
      ],
    },
    deleteRoot: {
      summary: 'Refuse to delete the root of the storage',
      query: deletion,
      answers: {},
      errors: ['storageRefused', 'nameRequired'],
      examples: [],
    },
    ...uploadOperations,
    listChanges: changesOperation,
  },
}
