import { RemovalPolicy, Stack } from 'aws-cdk-lib'
import {
  AttributeType,
  Billing,
  type ITable,
  ProjectionType,
  type ReplicaTableProps,
  StreamViewType,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb'
import { Key } from 'aws-cdk-lib/aws-kms'
import type { Construct } from 'constructs'
import { globalTables, regionalTables, type TableDefinition, type TableName, tables } from '../../lib/config/tables.ts'
import { byName, capitalised } from '../../lib/core/names.ts'
import {
  type DataCentreSettings,
  isProtected,
  nearestDirectory,
  needsStream,
  type Settings,
} from '../config/settings.ts'

export const tableOutput = (name: TableName): string => `${capitalised(name)}Table`

export const globalTableName = (prefix: string, name: TableName): string => `${prefix}-${name}`

export const globalTableArn = (stack: Stack, { prefix }: Settings, name: TableName, region: string): string =>
  stack.formatArn({ service: 'dynamodb', region, resource: 'table', resourceName: globalTableName(prefix, name) })

interface Options {
  readonly deletionProtection: boolean
  readonly tableName?: string
  readonly hasStream?: boolean
  readonly replicas?: ReplicaTableProps[]
  readonly keys: Settings['encryptionKeys']
}

const attributeTypes = { S: AttributeType.STRING, N: AttributeType.NUMBER } as const
const attribute = ({ name, type }: TableDefinition['partitionKey']) => ({ name, type: attributeTypes[type] })

const encryptionOf = (scope: Construct, name: TableName, { keys, replicas = [] }: Options): TableEncryptionV2 => {
  const key = keys?.[Stack.of(scope).region]
  if (!keys || key === undefined) return TableEncryptionV2.awsManagedKey()
  const others = Object.fromEntries(replicas.map(({ region }) => [region, keys[region] ?? '']))
  return TableEncryptionV2.customerManagedKey(Key.fromKeyArn(scope, `${tableOutput(name)}Key`, key), others)
}

/** A table from lib/config/tables.ts: billed on demand, encrypted, with point-in-time recovery. */
export const createTable = (scope: Construct, name: TableName, options: Options): TableV2 => {
  const { partitionKey, sortKey, timeToLive, global, indexes = {} }: TableDefinition = tables[name]
  const { deletionProtection, tableName, hasStream = false, replicas = [] } = options
  return new TableV2(scope, tableOutput(name), {
    partitionKey: attribute(partitionKey),
    ...(sortKey && { sortKey: attribute(sortKey) }),
    ...(timeToLive && { timeToLiveAttribute: timeToLive }),
    ...(tableName && { tableName }),
    // AWS replicates from a table's stream. One update cannot add both a stream and a replica, so the stream exists
    // from the start.
    ...(global && { replicas, dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES }),
    ...(hasStream && { dynamoStream: StreamViewType.NEW_IMAGE }),
    globalSecondaryIndexes: Object.entries(indexes).map(([indexName, index]) => ({
      indexName,
      partitionKey: attribute(index.partitionKey),
      sortKey: attribute(index.sortKey),
      projectionType: ProjectionType.KEYS_ONLY,
    })),
    billing: Billing.onDemand(),
    encryption: encryptionOf(scope, name, options),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection,
    // If a first deployment fails, it must remove its tables, because their names would block the next deployment.
    removalPolicy: deletionProtection ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
  })
}

export type Tables = Readonly<Record<TableName, ITable>>

export const createTables = (stack: Stack, settings: Settings, dataCentre: DataCentreSettings): Tables => {
  const region = nearestDirectory(settings, dataCentre)
  const deletionProtection = isProtected(settings, dataCentre)
  const keys = settings.encryptionKeys
  const own = (name: TableName) => {
    const tableName = dataCentre.restoredTables?.[name]
    const hasStream = name === 'journal' && needsStream(settings)
    if (tableName === undefined) return createTable(stack, name, { deletionProtection, hasStream, keys })
    const { indexes = {} }: TableDefinition = tables[name]
    return TableV2.fromTableAttributes(stack, tableOutput(name), { tableName, globalIndexes: Object.keys(indexes) })
  }
  const directory = (name: TableName) =>
    TableV2.fromTableArn(stack, tableOutput(name), globalTableArn(stack, settings, name, region))
  return { ...byName(globalTables, directory), ...byName(regionalTables, own) } as Tables
}

/** Without the setting, nothing uses the table of webhooks. */
export const watchedTables = ({ webhooks, ...others }: Tables, settings: Settings, region: string): Partial<Tables> => {
  const used = Object.entries({ ...others, ...(settings.webhooks && { webhooks }) })
  return Object.fromEntries(used.filter(([, table]) => table.env.region === region))
}
