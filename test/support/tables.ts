import { CreateTableCommand, type KeySchemaElement, waitUntilTableExists } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createSignInAttempts } from '../../lib/aws/dynamodb/access.ts'
import type { RecordChange } from '../../lib/aws/dynamodb/journal.ts'
import { openAreas, openDirectory, openIssuers, openUploads, openWebhooks } from '../../lib/aws/open-tables.ts'
import { type TableDefinition, type TableName, tables } from '../../lib/config/tables.ts'
import { openDynalite } from './dynalite.ts'

export interface TestTables {
  readonly names: { readonly [Name in TableName]: string }
  /** A new client, which the test may change. It sends each call at most `maxAttempts` times. */
  connect(maxAttempts?: number): DynamoDBDocumentClient
  close(): Promise<void>
}

type TableSettings = { readonly [Name in TableName as `${Name}Table`]: string }

export const tableSettings = (names: TestTables['names']): TableSettings =>
  Object.fromEntries(Object.entries(names).map(([name, table]) => [`${name}Table`, table])) as TableSettings

interface StoreOptions {
  readonly dynamodb: DynamoDBDocumentClient
  readonly now?: (() => number) | undefined
  /** Default: entries in the table of the history. */
  readonly record?: RecordChange
}

export const openTableStores = (names: TestTables['names'], options: StoreOptions) => {
  const settings = tableSettings(names)
  const areas = openAreas(settings, options)
  const recorded = { ...options, record: areas.record }
  return {
    ...areas,
    ...openDirectory(settings, recorded),
    ...openIssuers(settings, recorded),
    ...openUploads(settings, recorded),
    attempts: createSignInAttempts({ ...options, table: settings.signInsTable }),
    ...openWebhooks(settings, recorded),
  }
}

const tableNames = Object.keys(tables) as TableName[]

export const ownNames = Object.fromEntries(tableNames.map((name) => [name, name])) as TestTables['names']

const keySchema = (partition: string, sort: string | undefined): KeySchemaElement[] => [
  { AttributeName: partition, KeyType: 'HASH' },
  ...(sort === undefined ? [] : [{ AttributeName: sort, KeyType: 'RANGE' as const }]),
]

const tableCreation = (name: TableName): CreateTableCommand => {
  const { partitionKey, sortKey, indexes }: TableDefinition = tables[name]
  const keys = [partitionKey, ...(sortKey ? [sortKey] : [])]
  const indexKeys = Object.values(indexes ?? {}).flatMap((index) => [index.partitionKey, index.sortKey])
  const types = new Map([...keys, ...indexKeys].map((key) => [key.name, key.type]))
  return new CreateTableCommand({
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    KeySchema: keySchema(partitionKey.name, sortKey?.name),
    ...(indexes && {
      GlobalSecondaryIndexes: Object.entries(indexes).map(([IndexName, index]) => ({
        IndexName,
        KeySchema: keySchema(index.partitionKey.name, index.sortKey.name),
        Projection: { ProjectionType: 'KEYS_ONLY' },
      })),
    }),
  })
}

/** Empty tables of dynalite for one test, under their names in the service. */
export const openTestTables = async (): Promise<TestTables> => {
  const { connect, close } = openDynalite()
  const client = connect()
  const waiting = { client, maxWaitTime: 60, minDelay: 0.01, maxDelay: 1 }
  await Promise.all(
    tableNames.map(async (TableName) => {
      await client.send(tableCreation(TableName))
      await waitUntilTableExists(waiting, { TableName })
    }),
  )
  return { names: ownNames, connect, close }
}
