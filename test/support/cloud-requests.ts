import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import type { FileAction } from '../../cdk/config/grants.ts'

/**
 * A request that this process sends to AWS, or to what speaks like it: what tells it apart from others, without keys or
 * bodies.
 */
export interface CloudRequest {
  readonly method: string
  /** The names of its query's parameters. */
  readonly parameters: readonly string[]
  /** The names of its headers. */
  readonly headers: readonly string[]
  /** `X-Amz-Target`: service and action, where they are not told by the rest. */
  readonly target: string | null
}

interface Started {
  readonly request: ClientRequest
}

/**
 * Shows every request that Node's HTTP client sends from now on, and so each that a client of the SDK sends. Answers
 * how to stop.
 */
export const watchCloudRequests = (see: (request: CloudRequest) => void): (() => void) => {
  const listen = (message: unknown) => {
    const { request } = message as Started
    const target = request.getHeader('x-amz-target')
    const [, query] = request.path.split('?')
    see({
      method: request.method,
      parameters: [...new URLSearchParams(query).keys()],
      headers: request.getHeaderNames(),
      target: target === undefined ? null : String(target),
    })
  }
  subscribe('http.client.request.start', listen)
  return () => void unsubscribe('http.client.request.start', listen)
}

/** What AWS charges a request as: with those that write and list, with those that read, or not at all. */
type S3Class = 'write' | 'read' | 'free'

interface S3Operation {
  readonly name: string
  readonly method: string
  /** A parameter of the query that it has. */
  readonly parameter?: string
  /** A header that it has. */
  readonly header?: string
  /** What whoever sends it must be granted. */
  readonly actions: readonly FileAction[]
  readonly charged: S3Class
}

/**
 * The operations of S3 by what their requests look like; the first row that fits a request is its operation. Actions
 * are those of "Required permissions for Amazon S3 API operations" in its user guide. Beyond the obvious: an object
 * that is not there is 404 only to who may list the bucket; a write or a removal that names an entity tag needs the
 * right to read it ("How to prevent object overwrites with conditional writes", "Enforce conditional deletes"), which
 * the batches of this service always do. Objects have no tags here, so that a copy needs no rights to them.
 */
const s3Operations: readonly S3Operation[] = [
  {
    name: 'HeadObject, version',
    method: 'HEAD',
    parameter: 'versionId',
    actions: ['GetObjectVersion'],
    charged: 'read',
  },
  { name: 'HeadObject', method: 'HEAD', actions: ['GetObject', 'ListBucket'], charged: 'read' },
  { name: 'ListObjectsV2', method: 'GET', parameter: 'list-type', actions: ['ListBucket'], charged: 'write' },
  {
    name: 'ListObjectVersions',
    method: 'GET',
    parameter: 'versions',
    actions: ['ListBucketVersions'],
    charged: 'write',
  },
  {
    name: 'ListParts',
    method: 'GET',
    parameter: 'uploadId',
    actions: ['ListMultipartUploadParts'],
    charged: 'write',
  },
  { name: 'GetObject, version', method: 'GET', parameter: 'versionId', actions: ['GetObjectVersion'], charged: 'read' },
  { name: 'GetObject', method: 'GET', actions: ['GetObject'], charged: 'read' },
  {
    name: 'CopyObject',
    method: 'PUT',
    header: 'x-amz-copy-source',
    actions: ['GetObject', 'PutObject'],
    charged: 'write',
  },
  { name: 'UploadPart', method: 'PUT', parameter: 'partNumber', actions: ['PutObject'], charged: 'write' },
  {
    name: 'PutObject, If-Match',
    method: 'PUT',
    header: 'if-match',
    actions: ['PutObject', 'GetObject'],
    charged: 'write',
  },
  { name: 'PutObject', method: 'PUT', actions: ['PutObject'], charged: 'write' },
  { name: 'CreateMultipartUpload', method: 'POST', parameter: 'uploads', actions: ['PutObject'], charged: 'write' },
  {
    name: 'CompleteMultipartUpload, If-Match',
    method: 'POST',
    parameter: 'uploadId',
    header: 'if-match',
    actions: ['PutObject', 'GetObject'],
    charged: 'write',
  },
  { name: 'CompleteMultipartUpload', method: 'POST', parameter: 'uploadId', actions: ['PutObject'], charged: 'write' },
  {
    name: 'DeleteObjects',
    method: 'POST',
    parameter: 'delete',
    actions: ['DeleteObject', 'GetObject'],
    charged: 'write',
  },
  {
    name: 'AbortMultipartUpload',
    method: 'DELETE',
    parameter: 'uploadId',
    actions: ['AbortMultipartUpload'],
    charged: 'free',
  },
  {
    name: 'DeleteObject, version',
    method: 'DELETE',
    parameter: 'versionId',
    actions: ['DeleteObjectVersion'],
    charged: 'free',
  },
  {
    name: 'DeleteObject, If-Match',
    method: 'DELETE',
    header: 'if-match',
    actions: ['DeleteObject', 'GetObject'],
    charged: 'free',
  },
  { name: 'DeleteObject', method: 'DELETE', actions: ['DeleteObject'], charged: 'free' },
]

/**
 * The operation of S3 that a request is; undefined when it goes to another service. Throws an Error for one that the
 * table lacks.
 */
export const s3OperationOf = (request: CloudRequest): S3Operation | undefined => {
  if (request.target !== null) return undefined
  const found = s3Operations.find(
    ({ method, parameter, header }) =>
      method === request.method &&
      (parameter === undefined || request.parameters.includes(parameter)) &&
      (header === undefined || request.headers.includes(header)),
  )
  if (!found) throw new Error(`No operation of S3 is known to look like ${JSON.stringify(request)}`)
  return found
}

const targets = { AmazonSQS: 'sqs', DynamoDB_20120810: 'dynamodb' } as const

/** What whoever sends a request must be granted, as policies write it: `s3:GetObject`. */
export const actionsNeededFor = (request: CloudRequest): readonly string[] => {
  const operation = s3OperationOf(request)
  if (operation) return operation.actions.map((action) => `s3:${action}`)
  const [service, action] = request.target?.split('.') ?? []
  const found = Object.entries(targets).find(([name]) => name === service)
  if (!found) throw new Error(`${request.target} is an action of no service that functions use`)
  return [`${found[1]}:${action}`]
}
