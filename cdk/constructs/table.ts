import { RemovalPolicy } from 'aws-cdk-lib'
import {
  AttributeType,
  Billing,
  ProjectionType,
  type ReplicaTableProps,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb'
import type { Construct } from 'constructs'
import { type TableDefinition, type TableName, tables } from '../../lib/aws/tables.ts'
import { tableOutput } from '../naming.ts'

interface Options {
  readonly deletionProtection: boolean
  /** Given to global tables only; the others are named by CloudFormation. */
  readonly tableName?: string
  readonly replicas?: ReplicaTableProps[]
}

const attributeTypes = { S: AttributeType.STRING, N: AttributeType.NUMBER } as const

const attribute = ({ name, type }: TableDefinition['partitionKey']) => ({ name, type: attributeTypes[type] })

/** A table of the house, as lib/aws/tables.ts defines it: on demand, encrypted, recoverable to any moment of the last 35 days. */
export const createTable = (scope: Construct, name: TableName, options: Options): TableV2 => {
  const { partitionKey, sortKey, timeToLive, indexes = {} }: TableDefinition = tables[name]
  const { deletionProtection, tableName, replicas } = options
  return new TableV2(scope, tableOutput(name), {
    partitionKey: attribute(partitionKey),
    ...(sortKey && { sortKey: attribute(sortKey) }),
    ...(timeToLive && { timeToLiveAttribute: timeToLive }),
    ...(tableName && { tableName }),
    ...(replicas && { replicas }),
    globalSecondaryIndexes: Object.entries(indexes).map(([indexName, index]) => ({
      indexName,
      partitionKey: attribute(index.partitionKey),
      sortKey: attribute(index.sortKey),
      projectionType: ProjectionType.KEYS_ONLY,
    })),
    billing: Billing.onDemand(),
    encryption: TableEncryptionV2.awsManagedKey(),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection,
    removalPolicy: deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  })
}
