import { randomUUID } from 'node:crypto'
import {
  CreateTableCommand,
  DeleteTableCommand,
  type KeySchemaElement,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { timeouts } from '../../lib/aws/calls/client-calls.ts'
import { createDocumentClient } from '../../lib/aws/dynamodb/dynamodb.ts'
import { type TableDefinition, type TableName, tables } from '../../lib/config/tables.ts'
import { openDynalite } from './dynalite.ts'

/** Empty tables of a store, which a test has for itself. */
export interface TestTables {
  readonly names: { readonly [Name in TableName]: string }
  /** A client of its own, to which a test may do what it likes. */
  connect(): DynamoDBDocumentClient
  /** Removes the tables. */
  close(): Promise<void>
}

/** The names as the settings of the service have them. */
export const tableSettings = (names: TestTables['names']) => ({
  sitesTable: names.sites,
  tokensTable: names.tokens,
  webFormsTable: names.webForms,
  contentTable: names.content,
  categoryLinksTable: names.categoryLinks,
  pathLocksTable: names.pathLocks,
  journalTable: names.journal,
  uploadsTable: names.uploads,
})

const tableNames = Object.keys(tables) as TableName[]

const keySchema = (partition: string, sort: string | undefined): KeySchemaElement[] => [
  { AttributeName: partition, KeyType: 'HASH' },
  ...(sort === undefined ? [] : [{ AttributeName: sort, KeyType: 'RANGE' as const }]),
]

const tableCreation = (name: TableName, tableName: string): CreateTableCommand => {
  const { partitionKey, sortKey, indexes }: TableDefinition = tables[name]
  const keys = [partitionKey, ...(sortKey ? [sortKey] : [])]
  const indexKeys = Object.values(indexes ?? {}).flatMap((index) => [index.partitionKey, index.sortKey])
  const types = new Map([...keys, ...indexKeys].map((key) => [key.name, key.type]))
  return new CreateTableCommand({
    TableName: tableName,
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

/** Creates every table, and answers their names: those that the service has for them, behind the prefix. */
export const createTables = async (dynamodb: DynamoDBDocumentClient, prefix: string): Promise<TestTables['names']> => {
  const entries = tableNames.map((name) => [name, `${prefix}${name}`] as const)
  await Promise.all(
    entries.map(async ([name, TableName]) => {
      await dynamodb.send(tableCreation(name, TableName))
      await waitUntilTableExists({ client: dynamodb, maxWaitTime: 60, minDelay: 0.01, maxDelay: 1 }, { TableName })
    }),
  )
  return Object.fromEntries(entries) as TestTables['names']
}

/** Tables of DynamoDB as dynalite has it, named as the service names them. */
export const openTablesInMemory = async (): Promise<TestTables> => {
  const { connect, close } = openDynalite()
  return { names: await createTables(connect(), ''), connect, close }
}

/** An emulator shares its machine with the tests: it may take its time, and is no less right for it. */
const connectRemote = () => createDocumentClient({ requestHandler: timeouts({ requestTimeout: 30_000 }) })

const openRemote = async (): Promise<TestTables> => {
  const dynamodb = connectRemote()
  const names = await createTables(dynamodb, `site-admin-test-${randomUUID()}-`)
  return {
    names,
    connect: connectRemote,
    async close() {
      await Promise.all(Object.values(names).map((TableName) => dynamodb.send(new DeleteTableCommand({ TableName }))))
      dynamodb.destroy()
    },
  }
}

/** Tables of DynamoDB as dynalite has it; with `AWS_ENDPOINT_URL`, of whatever speaks it there. */
export const openTestTables = (): Promise<TestTables> =>
  process.env['AWS_ENDPOINT_URL'] ? openRemote() : openTablesInMemory()
