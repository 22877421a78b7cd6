import * as z from 'zod/mini'
import { type GroupContract, parameter, siteParameter, text } from '../contract.ts'
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
  deleteSwitches,
  digests,
  eitherUploadErrors,
  historySwitches,
  meta,
  metaSwitch,
  metaSwitches,
  noneMatch,
  pathLinks,
  putErrors,
  stored,
  upload,
  validators,
} from './contract-shared.ts'
import { begun, uploadOperations } from './contract-uploads.ts'
import { copyPath, newName, newPath, putVersion, restoreBody } from './switches.ts'

/** What the document says of files and folders. */
export const storageContract: GroupContract<'storage'> = {
  tag: {
    name: 'Files',
    description:
      'The files and folders of a site. The token needs the permission "Can use SFTP & File Manager"; it may come in the query.',
  },
  parameters: {
    site: siteParameter,
    path: text(
      'The path of a file or folder: UTF-8 segments of up to 255 bytes with slashes between, percent-encoded; up to 900 bytes in all. ' +
        'A run of slashes counts as one, in front too. What the examples read and delete is there after the first `npm start`.',
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
        '`restore` nothing is uploaded: the file or folder of that path comes back as it was removed, or, with ' +
        '`{"version": …}`, a file in one of its `versions`. What is there meanwhile is replaced with `{"replace": true}` alone; a folder brings along what its last ' +
        'removal took, up to 10,000 files and folders.',
      query: {
        ...upload.query,
        restore: text('Its presence brings back what was removed; the body is `{}`, or says what and how.', ''),
      },
      // Named as JSON it would be all that generators of clients know of this body: they take JSON first, and files could not be uploaded.
      body: { ...upload.body, mediaTypes: { ...upload.body.mediaTypes, '*/*': restoreBody } },
      answers: { 200: { ...stored, links: pathLinks }, 201: begun },
      errors: [...eitherUploadErrors, 'fileUnknown', 'folderReserved'],
      examples: examplesOf.uploadToFolder,
    },
    uploadToRoot: {
      summary: 'Upload files into the root of the storage',
      ...upload,
      answers: { 200: stored, 201: begun },
      examples: examplesOf.uploadToRoot,
    },
    readRoot: {
      summary: 'See how far an upload is, or what the root of the storage holds',
      description: 'One of `status` and `meta` must be there; `status` comes first.',
      query: {
        status: text(
          "Its presence asks for the progress of the token's newest upload; its value may be the token.",
          '',
        ),
        ...metaSwitches,
        meta: { ...metaSwitch, sentAtFirst: true },
        ...historySwitches,
      },
      answers: {
        200: {
          description: 'The progress, what the root holds, or what was removed from it or would be.',
          schema: z.union([progress, entry, removedPage, removalPreview]),
        },
      },
      errors: ['storageRefused', 'notAFile'],
      examples: examplesOf.readRoot,
    },
    readPath: {
      summary: 'Read a file, what a path is or was, or a link for a download',
      pathExamples: { path: exampleFiles.file },
      description:
        'The bytes are `application/octet-stream`, unless `Accept` names the own type of the file, or all of that kind (`text/*`). ' +
        'A path at which nothing is as written is looked up without case.',
      query: {
        ...metaSwitches,
        link: text(
          'Its presence asks for a URL that gives the present version of the file, as an attachment, to whoever has it, for five minutes at the most.',
          '',
        ),
        versions: text('Its presence asks for the states in which the live file is or was, 100 unless told.', ''),
        versionId: text('The bytes of one of its `versions`, in place of the present ones.', 'a-version-of-the-file'),
        ...historySwitches,
        version: text(
          '`draft` reads the draft of a page, or the live file when there is none. Anything else is passed over.',
          'draft',
        ),
      },
      headers: {
        Range: text('One range of bytes; several are passed over.', 'bytes=0-4'),
        'If-Range': text('The ETag or Last-Modified of an earlier part.', 'Sat, 31 Jan 2026 12:00:00 GMT'),
      },
      answers: {
        200: {
          description:
            'The bytes of the file; with `meta`, what the path is; with `link`, a URL of the bytes; with `versions`, `deleted` or `removal`, what was or would go.',
          schema: z.union([entry, downloadLink, versionPage, removedPage, removalPreview]),
          mediaTypes: fileTypes,
          optionalHeaders: [...validators, 'X-Content-Length'],
        },
        206: {
          description: 'The bytes that `Range` asks for.',
          mediaTypes: fileTypes,
          headers: [...validators, 'Content-Range'],
          optionalHeaders: ['X-Content-Length'],
        },
        302: {
          description:
            'The bytes are more than an answer may hold, or are no text and the request has no `Accept`: they are at a URL that expires. Not on one machine.',
          headers: ['Location', 'Cache-Control'],
        },
        304: {
          description: 'What `If-None-Match` names is still the present state.',
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
        200: { description: 'It is gone.' },
        202: { description: 'The folder is large: the rest goes on being deleted.', schema: deleting },
      },
      errors: [
        'conditionFailed',
        'storageRefused',
        'fileUnknown',
        'pathUnknown',
        'folderGoing',
        'workflowDeleted',
        'nameRequired',
        'folderReserved',
        'folderNotEmpty',
      ],
      examples: examplesOf.deletePath,
    },
    deleteRoot: {
      summary: 'Be told that the root of the storage cannot be deleted',
      query: deleteSwitches,
      answers: {},
      errors: ['storageRefused', 'nameRequired'],
      examples: examplesOf.deleteRoot,
    },
    putPath: {
      summary: 'Store a file, create a folder, rename, move or copy',
      pathExamples: { path: 'notes/draft.txt' },
      description:
        'The body is the content of the file, of any type: what is declared as JSON is stored as well. With `meta` it is `{"name": …}`, and renames, ' +
        '`{"path": …}`, and moves, or `{"copyTo": …}`, and copies the live files; all of it or nothing. With `type=folder` there is none; ' +
        'a body of the type `multipart/form-data` is an upload into the folder.',
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
      answers: { 200: { description: 'It is done.', schema: success, links: pathLinks } },
      errors: putErrors,
      examples: examplesOf.putPath,
    },
    // The root is neither a file nor can it be made or renamed: what is left of a PUT is the upload.
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
