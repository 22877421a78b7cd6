import type { HeaderName } from '../../lib/contract/contract.ts'
import type { Node } from './schemas.ts'

const text = { type: 'string' }

type Documented = HeaderName | 'X-Request-Id' | 'Retry-After' | 'WWW-Authenticate' | 'Allow'

/** The headers that answers carry for their callers to use. */
const headers: Readonly<Record<Documented, Node>> = {
  'X-Request-Id': { description: 'Names the request; quote it when reporting a fault.', required: true, schema: text },
  Location: { description: 'Where what the request made, or asked for, is.', required: true, schema: text },
  ETag: { description: 'Names the present state; for If-Match and If-None-Match.', required: true, schema: text },
  'Last-Modified': { description: 'When the file was stored, as an HTTP date.', required: true, schema: text },
  'Accept-Ranges': { description: 'Parts of the file may be asked for.', required: true, schema: { const: 'bytes' } },
  'Content-Range': { description: 'The part of the file that this is.', required: true, schema: text },
  'Content-Length': { description: 'How many bytes the body has.', required: true, schema: { type: 'integer' } },
  'X-Content-Length': {
    description: 'On HEAD: how many bytes GET would send. API Gateway does not hand on the Content-Length of a HEAD.',
    required: true,
    schema: { type: 'integer' },
  },
  'Cache-Control': { description: 'Who may keep the answer, and for how long.', required: true, schema: text },
  'Upload-Offset': {
    description: 'How many bytes of the upload are kept for good.',
    required: true,
    schema: { type: 'integer' },
  },
  'Upload-Length': {
    description: 'How many bytes the upload has in all.',
    required: true,
    schema: { type: 'integer' },
  },
  'Upload-Defer-Length': {
    description: 'Nobody has said yet how many bytes the upload has.',
    required: true,
    schema: { const: '1' },
  },
  'Upload-Metadata': { description: 'What was said of the upload when it began.', required: true, schema: text },
  'Upload-Expires': {
    description: 'When the upload ends unless it goes on, as an HTTP date.',
    required: true,
    schema: text,
  },
  'Tus-Resumable': { description: 'The version of the upload protocol.', required: true, schema: { const: '1.0.0' } },
  'Retry-After': { description: 'Seconds to wait before repeating.', required: true, schema: { type: 'integer' } },
  'WWW-Authenticate': { description: 'How to say who calls.', required: true, schema: { const: 'Bearer' } },
  Allow: { description: 'The methods that are allowed here.', required: true, schema: text },
}

const componentName = (header: string) => header.replaceAll('-', '')

export const headerComponents = Object.fromEntries(
  Object.entries(headers).map(([name, header]) => [componentName(name), header]),
)

/** The headers of an answer: the request's id, and those named. */
export const headerReferences = (names: readonly string[]): Node =>
  Object.fromEntries(
    ['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${componentName(name)}` }]),
  )

/** Headers that an answer carries in some cases. */
export const optionalHeaderObjects = (names: readonly HeaderName[]): Node =>
  Object.fromEntries(names.map((name) => [name, { ...headers[name], required: false }]))
