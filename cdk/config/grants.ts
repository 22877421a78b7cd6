import type { TableName } from '../../lib/config/tables.ts'
import type { FunctionName } from './functions.ts'

type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'BatchWriteItem'
  | 'Scan'

export interface TableGrant {
  readonly table: TableName
  /** Names an index of the table; without it, the grant is for the table itself. */
  readonly index?: string
  readonly actions: readonly TableAction[]
}

/** What every function needs to find out who calls, and for which site. */
const directory: readonly TableGrant[] = [
  { table: 'sites', actions: ['GetItem'] },
  { table: 'tokens', actions: ['GetItem'] },
]

/** What it takes to write down what has changed; reading it takes no more. */
const journal: TableGrant = { table: 'journal', actions: ['Query', 'UpdateItem'] }

/** What each function may do to each table: all of it, and nothing else. */
export const tableGrants: Readonly<Record<FunctionName, readonly TableGrant[]>> = {
  // Whom nobody asks for a token needs to read none.
  documentation: [{ table: 'sites', actions: ['GetItem'] }],
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
  removals: [journal, { table: 'pathLocks', actions: ['BatchGetItem', 'UpdateItem'] }],
}

/** What the commands of `site-admin --target aws` do to each table: all of it, and nothing else. */
export const administrationGrants: readonly TableGrant[] = [
  { table: 'sites', actions: ['GetItem', 'Scan', 'PutItem', 'UpdateItem', 'DeleteItem'] },
  { table: 'tokens', actions: ['GetItem', 'Scan', 'PutItem', 'UpdateItem', 'DeleteItem'] },
  { table: 'webForms', actions: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'] },
  {
    table: 'content',
    actions: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'],
  },
  { table: 'categoryLinks', actions: ['Query', 'BatchGetItem', 'BatchWriteItem', 'UpdateItem'] },
  { table: 'categoryLinks', index: 'byObject', actions: ['Query'] },
  { table: 'pathLocks', actions: ['Query', 'PutItem', 'DeleteItem'] },
  journal,
]

type BucketAction = 'ListBucket' | 'ListBucketVersions'

type ObjectAction =
  | 'GetObject'
  | 'GetObjectVersion'
  | 'PutObject'
  | 'DeleteObject'
  | 'DeleteObjectVersion'
  | 'AbortMultipartUpload'
  | 'ListMultipartUploadParts'

/** As IAM calls it. */
export type FileAction = BucketAction | ObjectAction

export interface FileGrant {
  /** On the bucket itself. */
  readonly bucket: readonly BucketAction[]
  /** On every object in it. */
  readonly objects: readonly ObjectAction[]
}

/**
 * What `site-admin --target aws` counts what is kept by, and removes the files of a site with: an object is deleted in the version that was listed, by its tag,
 * which takes the right to read it.
 */
export const administrationFileGrants: FileGrant = {
  bucket: ['ListBucket', 'ListBucketVersions'],
  objects: ['GetObject', 'DeleteObject'],
}

/** What functions may do to the files of sites. Versions are deleted to take back an upload that failed half-way. */
export const fileGrants: Partial<Readonly<Record<FunctionName, FileGrant>>> = {
  storage: {
    bucket: ['ListBucket', 'ListBucketVersions'],
    objects: [
      'GetObject',
      'GetObjectVersion',
      'PutObject',
      'DeleteObject',
      'DeleteObjectVersion',
      'AbortMultipartUpload',
      'ListMultipartUploadParts',
    ],
  },
  // An object is deleted in the version that was listed, by its tag: that takes the right to read it.
  removals: { bucket: ['ListBucket'], objects: ['GetObject', 'DeleteObject'] },
}

type QueueAction = 'SendMessage' | 'ReceiveMessage' | 'DeleteMessage' | 'GetQueueAttributes'

/** What functions may do to the queue of removals. What a worker does not finish, it sends on. */
export const removalsGrants: Partial<Readonly<Record<FunctionName, readonly QueueAction[]>>> = {
  storage: ['SendMessage'],
  removals: ['SendMessage', 'ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'],
}
