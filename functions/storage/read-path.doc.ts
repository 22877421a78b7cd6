import * as z from 'zod/mini'
import type { AnswerDoc, OperationDoc } from '../operation-doc.ts'
import { entryOrFile, progressOrEntry } from './answers.doc.ts'
import { metaSwitches, rangeHeaders } from './parameters.doc.ts'
import { stage } from './stage.doc.ts'

const validators = ['ETag', 'Last-Modified', 'Accept-Ranges'] as const

const whole: AnswerDoc = {
  description: 'The bytes of the file; with `meta`, what the path is.',
  schema: entryOrFile,
  mediaTypes: ['*/*'],
  optionalHeaders: validators,
}

export const readPathDoc: OperationDoc = {
  summary: 'Read a file, or what a path is',
  query: {
    ...metaSwitches,
    version: {
      description:
        '`draft` reads the draft of a page, or the live file when there is none. Anything else is passed over.',
      schema: z.string(),
      example: 'draft',
    },
  },
  headers: rangeHeaders,
  answers: {
    200: whole,
    206: {
      description: 'The bytes that `Range` asks for.',
      mediaTypes: ['*/*'],
      headers: [...validators, 'Content-Range'],
    },
    302: {
      description:
        'The bytes are more than an answer may hold, or the request has no `Accept`: they are at a URL that expires. Not on one machine.',
      headers: ['Location', 'Cache-Control'],
    },
    304: { description: 'What `If-None-Match` names is still the present state.', headers: validators },
  },
  errors: [
    'storageRefused',
    'fileUnknown',
    'notAFile',
    'pathUnknown',
    'urlInvalid',
    'nameTooLong',
    'rangeNotSatisfiable',
  ],
  examples: [
    { path: { path: stage.folder }, query: { meta: '' } },
    { path: { path: stage.file } },
    { path: { path: stage.file }, headers: { Range: 'bytes=0-4' } },
  ],
  provoked: {
    storageRefused: { path: { path: stage.folder }, query: { meta: '', limit: 'all' } },
    fileUnknown: { path: { path: 'missing.txt' } },
    notAFile: { path: { path: stage.folder } },
    urlInvalid: { path: { path: `${stage.folder}//${stage.file}` } },
    nameTooLong: { path: { path: 'x'.repeat(256) } },
    rangeNotSatisfiable: { path: { path: stage.file }, headers: { Range: 'bytes=100-' } },
  },
}

export const readRootDoc: OperationDoc = {
  summary: 'See how far an upload is, or what the root of the storage holds',
  description: 'One of `status` and `meta` must be there; `status` comes first.',
  query: {
    status: {
      description: "Its presence asks for the progress of the token's newest upload; its value may be the token.",
      schema: z.string(),
      example: '',
    },
    ...metaSwitches,
  },
  answers: {
    200: { description: 'The progress, or what the root holds.', schema: progressOrEntry },
  },
  errors: ['storageRefused', 'notAFile'],
  examples: [{ query: { status: '' } }],
  provoked: { storageRefused: { query: { meta: '', limit: 'all' } }, notAFile: {} },
}
