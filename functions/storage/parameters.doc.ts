import * as z from 'zod/mini'
import type { ParameterDocs } from '../operation-doc.ts'
import { siteParameter } from '../site.doc.ts'
import { pageCursor, pageLimit } from './switches.ts'

/** The variables in the paths of this group, and what its operations share in the query. */
export const parameters: ParameterDocs = {
  site: siteParameter,
  path: {
    description:
      'The path of a file or folder: UTF-8 segments of up to 255 bytes with slashes between, percent-encoded; up to 900 bytes in all.',
    schema: z.string(),
    example: 'notes',
  },
}

export const meta: ParameterDocs = {
  meta: {
    description: 'Its presence asks for what the path is, not for its bytes.',
    schema: z.string(),
    example: '',
  },
}

export const metaSwitches: ParameterDocs = {
  ...meta,
  limit: {
    description: 'How many entries of a folder an answer holds; for `meta`.',
    schema: pageLimit,
    example: 100,
  },
  cursor: { description: 'The `cursor` of the answer before; for `meta`.', schema: pageCursor, example: '' },
}

/** Where the contents of a file that is too large for one answer, or a part of it, are asked for. */
export const rangeHeaders: ParameterDocs = {
  Range: { description: 'One range of bytes; several are passed over.', schema: z.string(), example: 'bytes=0-4' },
  'If-Range': {
    description: 'The ETag or Last-Modified of an earlier part.',
    schema: z.string(),
    example: 'Sat, 31 Jan 2026 12:00:00 GMT',
  },
}
