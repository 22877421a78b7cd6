import type { TableName } from '../../lib/config/tables.ts'
import type { FunctionName } from './functions.ts'

type TableAction = `${'Get' | 'BatchGet' | 'Put' | 'Update' | 'Delete' | 'BatchWrite'}Item` | 'Query' | 'Scan'

export interface TableAccess {
  readonly table: TableName
  readonly index?: string
  /** If set, the permission covers only items whose partition key matches. */
  readonly keys?: string
  readonly actions: readonly TableAction[]
}

const directory: readonly TableAccess[] = [
  { table: 'sites', actions: ['GetItem'] },
  { table: 'tokens', actions: ['GetItem'] },
  { table: 'tokens', keys: 'used#*', actions: ['PutItem'] },
  { table: 'users', actions: ['GetItem'] },
]

const journal: TableAccess = { table: 'journal', actions: ['Query', 'UpdateItem'] }

const webhooks: TableAccess = {
  table: 'webhooks',
  actions: ['GetItem', 'Query', 'PutItem', 'DeleteItem', 'BatchWriteItem'],
}

export const tableGrants: Readonly<Record<FunctionName, readonly TableAccess[]>> = {
  documentation: [{ table: 'sites', actions: ['GetItem'] }],
  access: [
    journal,
    { table: 'sites', actions: ['GetItem'] },
    { table: 'tokens', actions: ['GetItem', 'BatchGetItem', 'PutItem', 'DeleteItem'] },
    { table: 'tokens', index: 'keysOfSite', actions: ['Query'] },
    { table: 'users', actions: ['GetItem', 'Scan', 'PutItem', 'DeleteItem'] },
    { table: 'signIns', actions: ['GetItem', 'PutItem', 'UpdateItem'] },
  ],
  fields: [...directory, journal, { table: 'webForms', actions: ['GetItem', 'Query', 'UpdateItem'] }],
  categories: [
    ...directory,
    journal,
    { table: 'content', actions: ['GetItem', 'BatchGetItem', 'Query'] },
    { table: 'categoryLinks', actions: ['Query', 'BatchGetItem', 'BatchWriteItem', 'UpdateItem'] },
    { table: 'categoryLinks', index: 'byObject', actions: ['Query'] },
  ],
  storage: [
    ...directory,
    journal,
    { table: 'pathLocks', actions: ['BatchGetItem', 'Query', 'PutItem', 'UpdateItem'] },
    { table: 'uploads', actions: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'] },
  ],
  webhooks: [...directory, journal, { ...webhooks, actions: [...webhooks.actions, 'UpdateItem'] }],
  removals: [
    journal,
    { table: 'sites', actions: ['GetItem', 'Scan'] },
    { table: 'pathLocks', actions: ['BatchGetItem', 'PutItem', 'UpdateItem'] },
    { table: 'uploads', actions: ['Scan'] },
  ],
}

export const operationsOn = (table: TableName): ReadonlySet<string> => {
  const grants = Object.values(tableGrants).flat()
  return new Set(grants.filter((grant) => grant.table === table).flatMap(({ actions }) => actions))
}

export const administrationGrants: readonly TableAccess[] = [
  { table: 'sites', actions: ['GetItem', 'Scan', 'PutItem', 'UpdateItem', 'DeleteItem'] },
  { table: 'tokens', actions: ['GetItem', 'BatchGetItem', 'Scan', 'PutItem', 'DeleteItem'] },
  { table: 'tokens', index: 'keysOfSite', actions: ['Query'] },
  { table: 'users', actions: ['GetItem', 'Scan', 'PutItem', 'DeleteItem'] },
  { table: 'webForms', actions: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'] },
  {
    table: 'content',
    actions: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'],
  },
  { table: 'categoryLinks', actions: ['Query', 'BatchGetItem', 'BatchWriteItem', 'UpdateItem'] },
  { table: 'categoryLinks', index: 'byObject', actions: ['Query'] },
  { table: 'pathLocks', actions: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem'] },
  journal,
  webhooks,
]

type BucketAction = 'ListBucket' | 'ListBucketVersions'

const objectActions = [
  'GetObject',
  'GetObjectVersion',
  'PutObject',
  'DeleteObject',
  'DeleteObjectVersion',
  'AbortMultipartUpload',
  'ListMultipartUploadParts',
] as const

type ObjectAction = (typeof objectActions)[number]
export type FileAction = BucketAction | ObjectAction

export interface FileAccess {
  readonly bucket: readonly BucketAction[]
  readonly objects: readonly ObjectAction[]
}

// `site-admin --target aws` needs these rights to count kept versions and to remove the files of a site. S3 allows a
// delete by version and tag only with GetObject.
export const administrationFileGrants: FileAccess = {
  bucket: ['ListBucket', 'ListBucketVersions'],
  objects: ['GetObject', 'DeleteObject'],
}

/** Actions on files. Functions delete versions to undo a failed upload. */
export const fileGrants: Partial<Readonly<Record<FunctionName, FileAccess>>> = {
  storage: { bucket: ['ListBucket', 'ListBucketVersions'], objects: objectActions },
  // An object is deleted only if it has the tag of the listed version. The right to read the object is needed for this
  // check.
  removals: { bucket: ['ListBucket'], objects: ['GetObject', 'DeleteObject'] },
}

type QueueAction = 'SendMessage' | 'ReceiveMessage' | 'DeleteMessage' | 'GetQueueAttributes'

const workerActions: readonly QueueAction[] = ['SendMessage', 'ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes']

/** Actions on queues. A worker sends a message with the rest of its work. */
export const queueGrants: Partial<
  Readonly<Record<FunctionName, { readonly queue: 'removals' | 'webhooks'; readonly actions: readonly QueueAction[] }>>
> = {
  storage: { queue: 'removals', actions: ['SendMessage'] },
  removals: { queue: 'removals', actions: workerActions },
  webhooks: { queue: 'webhooks', actions: workerActions },
}

/**
 * V-4: actions on the key that encrypts the secrets of webhooks. `site-admin webhook` needs them too, to rotate secrets
 * and to send tests.
 */
export const keyActions = ['Encrypt', 'Decrypt'] as const
