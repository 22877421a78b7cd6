import { CfnResource, type Stack } from 'aws-cdk-lib'
import { PolicyStatement, Role } from 'aws-cdk-lib/aws-iam'
import { CfnBucket } from 'aws-cdk-lib/aws-s3'
import { CfnQueue } from 'aws-cdk-lib/aws-sqs'
import { RegionInfo } from 'aws-cdk-lib/region-info'
import type { TableName } from '../../lib/config/tables.ts'
import type { FunctionName } from './functions.ts'
import type { Settings } from './settings.ts'

type TableAction = `${'Get' | 'BatchGet' | 'Put' | 'Update' | 'Delete' | 'BatchWrite'}Item` | 'Query' | 'Scan'

interface TableAccess {
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

const allFileActions = [
  'ListBucket',
  'ListBucketVersions',
  'GetObject',
  'GetObjectVersion',
  'PutObject',
  'DeleteObject',
  'DeleteObjectVersion',
  'AbortMultipartUpload',
  'ListMultipartUploadParts',
] as const

export type FileAction = (typeof allFileActions)[number]

type QueueAction = 'SendMessage' | 'ReceiveMessage' | 'DeleteMessage' | 'GetQueueAttributes'

const workerActions: readonly QueueAction[] = ['SendMessage', 'ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes']

interface FunctionGrants {
  readonly tables: readonly TableAccess[]
  readonly files?: readonly FileAction[]
  readonly queue?: { readonly name: 'removals' | 'webhooks'; readonly actions: readonly QueueAction[] }
}

/** Functions delete versions to undo a failed upload. The worker of a queue sends a message with the rest of its work. */
export const functionGrants: Readonly<Record<FunctionName, FunctionGrants>> = {
  documentation: { tables: [{ table: 'sites', actions: ['GetItem'] }] },
  access: {
    tables: [
      journal,
      { table: 'sites', actions: ['GetItem'] },
      { table: 'tokens', actions: ['GetItem', 'BatchGetItem', 'PutItem', 'DeleteItem'] },
      { table: 'tokens', index: 'keysOfSite', actions: ['Query'] },
      { table: 'users', actions: ['GetItem', 'Scan', 'PutItem', 'DeleteItem'] },
      { table: 'signIns', actions: ['GetItem', 'PutItem', 'UpdateItem'] },
    ],
  },
  fields: { tables: [...directory, journal, { table: 'webForms', actions: ['GetItem', 'Query', 'UpdateItem'] }] },
  categories: {
    tables: [
      ...directory,
      journal,
      { table: 'content', actions: ['GetItem', 'BatchGetItem', 'Query'] },
      { table: 'categoryLinks', actions: ['Query', 'BatchGetItem', 'BatchWriteItem', 'UpdateItem'] },
      { table: 'categoryLinks', index: 'byObject', actions: ['Query'] },
    ],
  },
  storage: {
    tables: [
      ...directory,
      journal,
      { table: 'pathLocks', actions: ['BatchGetItem', 'Query', 'PutItem', 'UpdateItem'] },
      { table: 'uploads', actions: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'] },
    ],
    files: allFileActions,
    queue: { name: 'removals', actions: ['SendMessage'] },
  },
  webhooks: {
    tables: [...directory, journal, { ...webhooks, actions: [...webhooks.actions, 'UpdateItem'] }],
    queue: { name: 'webhooks', actions: workerActions },
  },
  removals: {
    tables: [
      journal,
      { table: 'sites', actions: ['GetItem', 'Scan'] },
      { table: 'pathLocks', actions: ['BatchGetItem', 'PutItem', 'UpdateItem'] },
      { table: 'uploads', actions: ['Scan'] },
    ],
    files: ['ListBucket', 'GetObject', 'DeleteObject'],
    queue: { name: 'removals', actions: workerActions },
  },
}

export const operationsOn = (table: TableName): ReadonlySet<string> => {
  const grants = Object.values(functionGrants).flatMap(({ tables }) => tables)
  return new Set(grants.filter((grant) => grant.table === table).flatMap(({ actions }) => actions))
}

// `site-admin --target aws` needs these rights to count kept versions and to remove the files of a site. An object is
// deleted only if it has the tag of the listed version, and S3 allows this check only with GetObject.
export const administrationGrants: Required<Pick<FunctionGrants, 'tables' | 'files'>> = {
  tables: [
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
  ],
  files: ['ListBucket', 'ListBucketVersions', 'GetObject', 'DeleteObject'],
}

/**
 * V-4: actions on the key that encrypts the secrets of webhooks. `site-admin webhook` needs them too, to rotate secrets
 * and to send tests.
 */
export const keyActions = ['Encrypt', 'Decrypt'] as const

export const allow = (service: string, actions: readonly string[], ...resources: string[]): PolicyStatement =>
  new PolicyStatement({ actions: actions.map((action) => `${service}:${action}`), resources })

/** A table with replicas has an ARN in each region. */
export const allowOnTables = (grants: readonly TableAccess[], arnsOf: (table: TableName) => readonly string[]) =>
  grants.map(({ table, index, keys, actions }) => {
    const arns = arnsOf(table).map((arn) => `${arn}${index === undefined ? '' : `/index/${index}`}`)
    const statement = allow('dynamodb', actions, ...arns)
    if (keys !== undefined) statement.addCondition('ForAllValues:StringLike', { 'dynamodb:LeadingKeys': [keys] })
    return statement
  })

export const allowOnFiles = (actions: readonly FileAction[], bucketArn: string): readonly PolicyStatement[] => {
  const granted = Map.groupBy(actions, (action) => (action.startsWith('ListBucket') ? bucketArn : `${bucketArn}/*`))
  return [...granted].map(([arn, ofArn]) => allow('s3', ofArn, arn))
}

// For each type of resource, the one property that names the key. Other types need more than one property.
const keyProperties: Readonly<Record<string, string>> = {
  // Its environment contains the secrets of the distribution. The function `access` has them too, and the canary has the
  // token of its own site: Lambda encrypts these two environments with its own key.
  'AWS::Lambda::WebFunctionRevision': 'KmsKeyArn',
  'AWS::Logs::LogGroup': 'KmsKeyId',
  'AWS::SecretsManager::Secret': 'KmsKeyId',
  'AWS::SNS::Topic': 'KmsMasterKeyId',
}

const encryptResource = (resource: CfnResource, key: string): void => {
  const property = keyProperties[resource.cfnResourceType]
  if (property !== undefined) resource.addPropertyOverride(property, key)
  // Leaves out the bucket with the code of the functions. It contains no data of sites, and the policy of the key may
  // not let Lambda read the code.
  if (CfnBucket.isCfnBucket(resource) && resource.node.path.includes('FilesBucket')) {
    const serverSideEncryptionByDefault = { sseAlgorithm: 'aws:kms', kmsMasterKeyId: key }
    const rule = { bucketKeyEnabled: true, serverSideEncryptionByDefault }
    resource.bucketEncryption = { serverSideEncryptionConfiguration: [rule] }
  }
  if (CfnQueue.isCfnQueue(resource)) {
    resource.kmsMasterKeyId = key
    resource.sqsManagedSseEnabled = undefined
  }
}

/** With the customer's key of the region, encrypts everything that a stack stores, except tables. */
export const encryptWith = (stack: Stack, settings: Settings): void => {
  const key = settings.encryptionKeys?.[stack.region]
  if (key === undefined) return
  for (const node of stack.node.findAll()) {
    if (CfnResource.isCfnResource(node)) encryptResource(node, key)
    // The customer's key may encrypt the bucket of `cdk bootstrap`. From there, a function of the CDK copies the code
    // of the Web Function, so this function also needs the key.
    if (!Role.isRole(node) || !node.node.path.includes('Custom::S3ObjectCopy')) continue
    for (const statement of allowKeys(settings, [stack.region], ['s3'])) node.addToPolicy(statement)
  }
}

const hostOf = (service: string, region: string) => `${service}.${region}.${RegionInfo.get(region).domainSuffix}`

/**
 * Allows the use of the customer's keys through these services only. Without such keys, the keys of AWS need no
 * permission. A service uses only keys of its own region, so one statement is enough for several regions.
 */
export const allowKeys = (
  { encryptionKeys }: Settings,
  regions: readonly string[],
  services: readonly ('dynamodb' | 's3' | 'sqs' | 'ssm')[],
  actions: readonly ('Decrypt' | 'DescribeKey' | 'GenerateDataKey')[] = ['Decrypt'],
): readonly PolicyStatement[] => {
  const keys = regions.flatMap((region) => encryptionKeys?.[region] ?? [])
  if (keys.length === 0) return []
  const statement = allow('kms', actions, ...keys)
  const hosts = regions.flatMap((region) => services.map((service) => hostOf(service, region)))
  statement.addCondition('StringEquals', { 'kms:ViaService': hosts })
  return [statement]
}
