import * as z from 'zod/mini'
import { type GroupContract, ok, parameter, siteParameter, text } from '../contract.ts'
import { changesOperation } from './contract-changes.ts'
import { exampleFiles, examplesOf } from './contract-examples.ts'
import {
  bytes,
  deleting,
  downloadLink,
  entry,
  fileTypes,
  formBodies,
  progress,
  removalPreview,
  removedPage,
  success,
  versionPage,
} from './contract-schemas.ts'
import {
  begun,
  deleteSwitches,
  digests,
  historySwitches,
  meta,
  metaSwitches,
  noneMatch,
  pathLinks,
  putErrors,
  stored,
  upload,
  uploadOperations,
  validators,
} from './contract-shared.ts'
import { copyPath, newName, newPath, putVersion, restoreBody } from './switches.ts'

export const storageContract: GroupContract<'storage'> = {
  tag: {
    name: 'Files',
    description:
      'The files and folders of a site. The token needs the permission "Can use SFTP & File Manager". It may also be ' +
      'sent in the query.',
  },
  parameters: {
    site: siteParameter,
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
    uploadToFolder: {
      summary: 'Upload files into a folder, or restore what was removed',
      ...upload,
      description:
        `${upload.description} With ` +
        '`restore`, the request restores the removed file or folder of the path and uploads nothing. `{"version": ' +
        '…}` restores one of the `versions` of a file. Only `{"replace": true}` replaces a present file. A folder ' +
        'comes back with everything that its last removal took, up to 10,000 files and folders.',
      query: {
        ...upload.query,
        restore: text(
          'Restores the removed file or folder. The body is `{}`, or names the version. The switch needs no value.',
          '',
        ),
      },
      // Client generators prefer JSON: under application/json, their clients could not upload files.
      body: { ...upload.body, mediaTypes: { ...upload.body.mediaTypes, '*/*': restoreBody } },
      answers: { 200: { ...stored, links: pathLinks }, 201: begun },
      errors: [...upload.errors, 'fileUnknown', 'folderReserved'],
      examples: examplesOf.uploadToFolder,
    },
    uploadToRoot: {
      summary: 'Upload files into the root of the storage',
      ...upload,
      answers: { 200: stored, 201: begun },
      examples: examplesOf.uploadToRoot,
    },
    readRoot: {
      summary: 'Show the progress of an upload, or the contents of the root of the storage',
      description: 'Send `status` or `meta`; with both, `status` wins.',
      query: {
        status: text("Asks for the progress of the token's newest upload; its value may be the token.", ''),
        ...metaSwitches,
        meta: { ...meta.meta, sentAtFirst: true },
        ...historySwitches,
      },
      answers: ok(
        'The progress, the contents of the root, its removed files and folders, or the preview of a removal.',
        z.union([progress, entry, removedPage, removalPreview]),
      ),
      errors: ['storageRefused', 'notAFile'],
      examples: examplesOf.readRoot,
    },
    readPath: {
      summary: 'Read a file, information about a path, its history or a download link',
      pathExamples: { path: exampleFiles.file },
      description:
        'The answer is `application/octet-stream`, unless `Accept` names the media type of the file or its group ' +
        '(`text/*`). If nothing is at the path as written, upper and lower case are ignored.',
      query: {
        ...metaSwitches,
        link: text(
          'Asks for a URL that downloads the present version of the file as an attachment. Everybody who has the URL ' +
            'may use it for five minutes. The switch needs no value.',
          '',
        ),
        versions: text(
          'Lists the states of the live file: 100 unless `limit` is given. The switch needs no value.',
          '',
        ),
        versionId: text('Reads one of its `versions` instead of the present one.', 'a-version-of-the-file'),
        ...historySwitches,
        version: text(
          '`draft` reads the draft of a page, or the live file when there is none. Other values are ignored.',
          'draft',
        ),
      },
      headers: {
        Range: text('One range of bytes; several are ignored.', 'bytes=0-4'),
        'If-Range': text('The ETag or Last-Modified of an earlier part.', 'Sat, 31 Jan 2026 12:00:00 GMT'),
      },
      answers: {
        ...ok(
          'The bytes of the file. With `meta`, information about the path; with `link`, a URL of the bytes; with ' +
            '`versions` or `deleted`, the history; with `removal`, the preview of a removal.',
          z.union([entry, downloadLink, versionPage, removedPage, removalPreview]),
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
            'The bytes are at a URL that expires: they are too large for an answer, or they are not text and the ' +
            'request has no `Accept`. This does not happen on one machine.',
          headers: ['Location', 'Cache-Control'],
        },
        304: {
          description: 'The state that `If-None-Match` names is still the present one.',
          headers: ['ETag', 'Accept-Ranges'],
          // Gateways may take it out beside an `ETag` (RFC 9110, section 15.4.5).
          optionalHeaders: ['Last-Modified'],
        },
      },
      errors: [
        'conditionFailed',
        'storageRefused',
        'fileUnknown',
        'notAFile',
        'pathUnknown',
        'urlInvalid',
        'nameTooLong',
        'rangeNotSatisfiable',
      ],
      examples: examplesOf.readPath,
    },
    deletePath: {
      summary: 'Delete a file, a draft or a folder with its contents',
      pathExamples: { path: 'old' },
      query: deleteSwitches,
      headers: noneMatch,
      answers: {
        200: { description: 'It is deleted.' },
        202: { description: 'The folder is large: the service deletes the rest after this answer.', schema: deleting },
      },
      errors: [
        'conditionFailed',
        'storageRefused',
        'fileUnknown',
        'pathUnknown',
        'folderLocked',
        'workflowDeleted',
        'nameRequired',
        'folderReserved',
        'folderNotEmpty',
      ],
      examples: examplesOf.deletePath,
    },
    deleteRoot: {
      summary: 'Refuse to delete the root of the storage',
      query: deleteSwitches,
      answers: {},
      errors: ['storageRefused', 'nameRequired'],
      examples: examplesOf.deleteRoot,
    },
    putPath: {
      summary: 'Store a file, create a folder, rename, move or copy',
      pathExamples: { path: 'notes/draft.txt' },
      description:
        'The body is the content of the file, of any type, also JSON. With `meta`, `{"name": …}` renames, ' +
        '`{"path": …}` moves and `{"copyTo": …}` copies the live files, completely or not at all. With ' +
        '`type=folder` there is no body. A body of the type `multipart/form-data` is an upload into the folder.',
      query: {
        ...meta,
        type: text('`folder` creates the folder.', 'folder'),
        version: parameter(
          '`draft` stores the draft of a page; `draft-publish`, or nothing, the live file.',
          'draft-publish',
          putVersion,
        ),
      },
      headers: { ...noneMatch, ...digests },
      body: {
        optional: true,
        schema: z.unknown(),
        mediaTypes: {
          'application/octet-stream': bytes,
          'application/json': z.union([newName, newPath, copyPath]),
          ...formBodies,
          '*/*': bytes,
        },
      },
      answers: ok('It is done.', success, { links: pathLinks }),
      errors: putErrors,
      examples: examplesOf.putPath,
    },
    // The root always exists as a folder: a PUT can only upload.
    putRoot: {
      summary: 'Upload files into the root of the storage, by PUT',
      headers: noneMatch,
      body: { schema: z.unknown(), mediaTypes: formBodies },
      answers: { 200: stored },
      errors: putErrors,
      examples: examplesOf.putRoot,
    },
    ...uploadOperations,
    listChanges: changesOperation,
  },
}
