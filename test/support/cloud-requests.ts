import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import type { FileAction } from '../../cdk/config/grants.ts'

/** The features of a request to AWS or an emulator that tell its operation: no keys and no body. */
export interface CloudRequest {
  readonly method: string
  readonly parameters: readonly string[]
  readonly headers: readonly string[]
  /** `X-Amz-Target`: service and action, for services that have this header. */
  readonly target: string | null
}

/** Reports every request of the HTTP client of Node, also of the SDK. Returns a function that stops this. */
export const watchCloudRequests = (see: (request: CloudRequest) => void): (() => void) => {
  const listen = (message: unknown) => {
    const { request } = message as { readonly request: ClientRequest }
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

/** The price class of a request. A listing costs as much as a write. */
type S3Class = 'write' | 'read' | 'free'

/** The method, and the query parameter `?name` or header `name:` that only this operation has. */
type S3Form = readonly [method: string, ...marks: string[]]

/**
 * The operations of S3 by the features of their requests. The first row that matches a request is its operation.
 * Actions are those of "Required permissions for Amazon S3 API operations" in the user guide, with these additions. S3
 * answers 404 for a missing object only if the caller may list the bucket. A write or removal that names an entity tag
 * needs the right to read the object ("How to prevent object overwrites with conditional writes", "Enforce conditional
 * deletes"). Batches of this service always name entity tags. Copies do not ask for the tags of their source, so they need
 * no rights to tags.
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

/** Undefined for a request to another service. Throws an Error for an operation of S3 that is not in the table. */
export const s3OperationOf = (request: CloudRequest) => {
  if (request.target !== null) return undefined
  const { method, parameters, headers } = request
  const marks = [...parameters.map((name) => `?${name}`), ...headers.map((name) => `${name}:`)]
  const found = s3Operations.find(
    ([[own, ...needed]]) => own === method && needed.every((mark) => marks.includes(mark)),
  )
  if (!found) throw new Error(`No operation of S3 in the table matches ${JSON.stringify(request)}`)
  const [, name, charged, ...actions] = found
  return { name, charged, actions }
}

const targets = { AmazonSQS: 'sqs', AmazonSSM: 'ssm', DynamoDB_20120810: 'dynamodb', TrentService: 'kms' } as const

/** The permissions that the sender needs, as policies write them: `s3:GetObject`. */
export const actionsNeededFor = (request: CloudRequest): readonly string[] => {
  const operation = s3OperationOf(request)
  if (operation) return operation.actions.map((action) => `s3:${action}`)
  const [service, action] = request.target?.split('.') ?? []
  const found = Object.entries(targets).find(([name]) => name === service)
  if (!found) throw new Error(`${request.target} is not an action of a service that functions use`)
  return [`${found[1]}:${action}`]
}
