import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import type { FileAction } from '../../cdk/config/grants.ts'

/** The form of a request to AWS or an emulator, without keys and bodies. */
export interface CloudRequest {
  readonly method: string
  /** The names of its query's parameters. */
  readonly parameters: readonly string[]
  /** The names of its headers. */
  readonly headers: readonly string[]
  /** `X-Amz-Target`: service and action, if the rest does not show them. */
  readonly target: string | null
}

interface Started {
  readonly request: ClientRequest
}

/**
 * Reports every request that Node's HTTP client sends from now on, also those of the SDK. Returns a function that stops
 * this.
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

/** The price class of a request. Listing costs as much as writing. */
type S3Class = 'write' | 'read' | 'free'

/** The method, and the query parameter `?name` or header `name:` that is specific to the operation. */
type S3Form = readonly [method: string, ...marks: string[]]

interface S3Operation {
  readonly name: string
  /** The permissions of its sender. */
  readonly actions: readonly FileAction[]
  readonly charged: S3Class
}

/**
 * The operations of S3 by the form of their requests. The first row that fits a request is its operation. Actions are
 * those of "Required permissions for Amazon S3 API operations" in its user guide. Beyond the obvious: a missing object
 * is 404 only for callers who may list the bucket. A write or a removal that names an entity tag needs the right to
 * read it ("How to prevent object overwrites with conditional writes", "Enforce conditional deletes"). The batches of
 * this service always name one. Objects have no tags here, so a copy needs no rights to them.
 */
const s3Operations: readonly (readonly [S3Form, string, S3Class, ...FileAction[]])[] = [
  [['HEAD', '?versionId'], 'HeadObject, version', 'read', 'GetObjectVersion'],
  [['HEAD'], 'HeadObject', 'read', 'GetObject', 'ListBucket'],
  [['GET', '?list-type'], 'ListObjectsV2', 'write', 'ListBucket'],
  [['GET', '?versions'], 'ListObjectVersions', 'write', 'ListBucketVersions'],
  [['GET', '?uploadId'], 'ListParts', 'write', 'ListMultipartUploadParts'],
  [['GET', '?versionId'], 'GetObject, version', 'read', 'GetObjectVersion'],
  [['GET'], 'GetObject', 'read', 'GetObject'],
  [['PUT', 'x-amz-copy-source:'], 'CopyObject', 'write', 'GetObject', 'PutObject'],
  [['PUT', '?partNumber'], 'UploadPart', 'write', 'PutObject'],
  [['PUT', 'if-match:'], 'PutObject, If-Match', 'write', 'PutObject', 'GetObject'],
  [['PUT'], 'PutObject', 'write', 'PutObject'],
  [['POST', '?uploads'], 'CreateMultipartUpload', 'write', 'PutObject'],
  [['POST', '?uploadId', 'if-match:'], 'CompleteMultipartUpload, If-Match', 'write', 'PutObject', 'GetObject'],
  [['POST', '?uploadId'], 'CompleteMultipartUpload', 'write', 'PutObject'],
  [['POST', '?delete'], 'DeleteObjects', 'write', 'DeleteObject', 'GetObject'],
  [['DELETE', '?uploadId'], 'AbortMultipartUpload', 'free', 'AbortMultipartUpload'],
  [['DELETE', '?versionId'], 'DeleteObject, version', 'free', 'DeleteObjectVersion'],
  [['DELETE', 'if-match:'], 'DeleteObject, If-Match', 'free', 'DeleteObject', 'GetObject'],
  [['DELETE'], 'DeleteObject', 'free', 'DeleteObject'],
]

/** Undefined for a request to another service. Throws an Error for an operation that the table lacks. */
export const s3OperationOf = (request: CloudRequest): S3Operation | undefined => {
  if (request.target !== null) return undefined
  const { method, parameters, headers } = request
  const marks = [...parameters.map((name) => `?${name}`), ...headers.map((name) => `${name}:`)]
  const found = s3Operations.find(
    ([[own, ...needed]]) => own === method && needed.every((mark) => marks.includes(mark)),
  )
  if (!found) throw new Error(`The table lacks the operation of S3 for ${JSON.stringify(request)}`)
  const [, name, charged, ...actions] = found
  return { name, charged, actions }
}

const targets = { AmazonSQS: 'sqs', DynamoDB_20120810: 'dynamodb' } as const

/** The permissions of the sender, as policies write them: `s3:GetObject`. */
export const actionsNeededFor = (request: CloudRequest): readonly string[] => {
  const operation = s3OperationOf(request)
  if (operation) return operation.actions.map((action) => `s3:${action}`)
  const [service, action] = request.target?.split('.') ?? []
  const found = Object.entries(targets).find(([name]) => name === service)
  if (!found) throw new Error(`${request.target} is an action of no service that functions use`)
  return [`${found[1]}:${action}`]
}
