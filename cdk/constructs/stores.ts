import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb'
import { Key } from 'aws-cdk-lib/aws-kms'
import * as s3 from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'
import {
  globalTableName,
  globalTables,
  regionalTables,
  type TableDefinition,
  type TableName,
  tableOutput,
  tables,
} from '../../lib/config/tables.ts'
import { byName } from '../../lib/core/names.ts'
import {
  type DataCentreSettings,
  homeRegion,
  isProtected,
  nearestDirectory,
  needsStream,
  replicaRegions,
  type Settings,
} from '../config/settings.ts'

export const globalTableArn = (stack: Stack, { prefix }: Settings, name: TableName, region: string): string =>
  stack.formatArn({ service: 'dynamodb', region, resource: 'table', resourceName: globalTableName(prefix, name) })

export const replicasOf = (settings: Settings): dynamodb.ReplicaTableProps[] =>
  replicaRegions(settings, homeRegion(settings)).map((region) => {
    const there = Object.values(settings.dataCentres).filter((dataCentre) => dataCentre.region === region)
    return { region, deletionProtection: there.some((dataCentre) => isProtected(settings, dataCentre)) }
  })

interface Options {
  readonly deletionProtection: boolean
  readonly tableName?: string
  readonly hasStream?: boolean
  readonly replicas?: dynamodb.ReplicaTableProps[]
  readonly keys: Settings['encryptionKeys']
}

const attributeTypes = { S: dynamodb.AttributeType.STRING, N: dynamodb.AttributeType.NUMBER } as const
const attribute = ({ name, type }: TableDefinition['partitionKey']) => ({ name, type: attributeTypes[type] })

const encryptionOf = (scope: Construct, name: TableName, { keys, replicas = [] }: Options) => {
  const key = keys?.[Stack.of(scope).region]
  if (!keys || key === undefined) return dynamodb.TableEncryptionV2.awsManagedKey()
  const others = Object.fromEntries(replicas.map(({ region }) => [region, keys[region] ?? '']))
  return dynamodb.TableEncryptionV2.customerManagedKey(Key.fromKeyArn(scope, `${tableOutput(name)}Key`, key), others)
}

export const createTable = (scope: Construct, name: TableName, options: Options): dynamodb.TableV2 => {
  const { partitionKey, sortKey, timeToLive, global, indexes = {} }: TableDefinition = tables[name]
  const { deletionProtection, tableName, hasStream = false, replicas = [] } = options
  return new dynamodb.TableV2(scope, tableOutput(name), {
    partitionKey: attribute(partitionKey),
    ...(sortKey && { sortKey: attribute(sortKey) }),
    ...(timeToLive && { timeToLiveAttribute: timeToLive }),
    ...(tableName && { tableName }),
    // AWS replicates from a table's stream. One update cannot add both a stream and a replica, so the stream exists
    // from the start.
    ...(global && { replicas, dynamoStream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES }),
    ...(hasStream && { dynamoStream: dynamodb.StreamViewType.NEW_IMAGE }),
    globalSecondaryIndexes: Object.entries(indexes).map(([indexName, index]) => ({
      indexName,
      partitionKey: attribute(index.partitionKey),
      sortKey: attribute(index.sortKey),
      projectionType: dynamodb.ProjectionType.KEYS_ONLY,
    })),
    billing: dynamodb.Billing.onDemand(),
    encryption: encryptionOf(scope, name, options),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection,
    // If a first deployment fails, it must remove its tables, because their names would block the next deployment.
    removalPolicy: deletionProtection ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
  })
}

export type Tables = Readonly<Record<TableName, dynamodb.ITable>>

export const createTables = (stack: Stack, settings: Settings, dataCentre: DataCentreSettings): Tables => {
  const region = nearestDirectory(settings, dataCentre.region)
  const deletionProtection = isProtected(settings, dataCentre)
  const keys = settings.encryptionKeys
  const own = (name: TableName) => {
    const tableName = dataCentre.restoredTables?.[name]
    const hasStream = name === 'journal' && needsStream(settings)
    if (tableName === undefined) return createTable(stack, name, { deletionProtection, hasStream, keys })
    const { indexes = {} }: TableDefinition = tables[name]
    const globalIndexes = Object.keys(indexes)
    return dynamodb.TableV2.fromTableAttributes(stack, tableOutput(name), { tableName, globalIndexes })
  }
  const directory = (name: TableName) =>
    dynamodb.TableV2.fromTableArn(stack, tableOutput(name), globalTableArn(stack, settings, name, region))
  return { ...byName(globalTables, directory), ...byName(regionalTables, own) } as Tables
}

/** Without the setting, nothing uses the table of webhooks. */
export const watchedTables = ({ webhooks, ...others }: Tables, settings: Settings, region: string): Partial<Tables> => {
  const used = Object.entries({ ...others, ...(settings.webhooks && { webhooks }) })
  return Object.fromEntries(used.filter(([, table]) => table.env.region === region))
}

const anyHeaders = { allowedHeaders: ['*'], maxAge: 86_400 }

/**
 * The bucket of a data centre is private, encrypted, versioned, and accepts only TLS. With versions, the service can
 * undo a change that failed half-way. Removed and replaced files can be restored for `keptDays`.
 */
export const createFilesBucket = (
  scope: Construct,
  deletionProtection: boolean,
  { keptDays, coldAfterDays, uploadOrigins }: Settings,
): s3.Bucket =>
  new s3.Bucket(scope, 'FilesBucket', {
    blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
    objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
    encryption: s3.BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    versioned: true,
    lifecycleRules: [
      {
        id: 'forget-old-versions',
        noncurrentVersionExpiration: Duration.days(keptDays),
        // Readers also get a restored version from this storage class at once.
        ...(coldAfterDays !== undefined && {
          noncurrentVersionTransitions: [
            { storageClass: s3.StorageClass.INFREQUENT_ACCESS, transitionAfter: Duration.days(coldAfterDays) },
          ],
        }),
        expiredObjectDeleteMarker: true,
      },
      // An upload expires after at most 6 days (U-25). Lifecycle rules run only once a day, and with a delay.
      { id: 'clear-unfinished-uploads', abortIncompleteMultipartUploadAfter: Duration.days(8) },
      // These objects contain bytes of unfinished uploads, too. Old versions are never needed. When two rules apply, S3
      // obeys the shorter one.
      {
        id: 'clear-scratch',
        prefix: 'scratch/',
        expiration: Duration.days(7),
        noncurrentVersionExpiration: Duration.days(1),
      },
    ],
    // Browsers download large files from here, at URLs that the service signs, and send the parts of large files here
    // (U-31). After a redirect, a browser sends the origin "null".
    cors: [
      {
        ...anyHeaders,
        allowedMethods: [s3.HttpMethods.GET, s3.HttpMethods.HEAD],
        allowedOrigins: ['*'],
        exposedHeaders: ['ETag', 'Content-Range', 'Accept-Ranges', 'Last-Modified', 'Retry-After'],
      },
      ...(uploadOrigins.length > 0
        ? [{ ...anyHeaders, allowedMethods: [s3.HttpMethods.PUT], allowedOrigins: uploadOrigins }]
        : []),
    ],
    removalPolicy: deletionProtection ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
  })
