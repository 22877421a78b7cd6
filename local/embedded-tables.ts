import { once } from 'node:events'
import { chmodSync, rmSync } from 'node:fs'
import { Agent, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClientConfig,
  type KeySchemaElement,
  type TableStatus,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import dynalite from 'dynalite'
import { createDocumentClient } from '../lib/dynamodb.ts'
import { type TableDefinition, type TableName, tables } from '../lib/tables.ts'
import { closerOf } from '../server/close-server.ts'
import type { DataDirectory } from './data-directory.ts'

/** In the embedded store each table is called as configuration calls it. */
export const embeddedTableNames = Object.fromEntries(Object.keys(tables).map((name) => [name, name])) as {
  readonly [Name in TableName]: Name
}

export interface EmbeddedTables {
  readonly documents: DynamoDBDocumentClient
  close(): Promise<void>
}

/** How a client reaches tables that are served on a socket. The store checks no signature: who may open the socket may do everything. */
const clientConfig = (socketPath: string): DynamoDBClientConfig => ({
  endpoint: 'http://localhost',
  region: 'local',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  requestHandler: {
    httpAgent: Object.assign(new Agent({ keepAlive: true, maxSockets: 64 }), {
      createConnection: () => connect(socketPath),
    }),
  },
})

/** A client of the tables that are served on a socket, by this process or another one. */
export const connectToTables = (socket: string): EmbeddedTables => {
  const documents = createDocumentClient(clientConfig(socket))
  return { documents, close: async () => documents.destroy() }
}

const readWhole = async (request: IncomingMessage): Promise<Buffer> => Buffer.concat(await request.toArray())

/**
 * dynalite throws, and so would end the process, when a client goes away in the middle of its request. It only ever gets
 * to see whole requests.
 */
const shieldFromBrokenRequests = (server: Server): void => {
  const [listener] = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    readWhole(request).then(
      (body) => {
        const { headers, method, url } = request
        const replay = Object.assign(Readable.from(body.length > 0 ? [body] : []), { headers, method, url })
        listener?.(replay as unknown as IncomingMessage, response)
      },
      () => response.destroy(),
    )
  })
}

const keySchema = (partition: string, sort: string | undefined): KeySchemaElement[] => [
  { AttributeName: partition, KeyType: 'HASH' },
  ...(sort === undefined ? [] : [{ AttributeName: sort, KeyType: 'RANGE' as const }]),
]

/** What makes one of the tables, under the name that is given. */
export const tableCreation = (name: TableName, tableName: string): CreateTableCommand => {
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

const createTable = (documents: DynamoDBDocumentClient, name: TableName) => documents.send(tableCreation(name, name))

const leastThroughput = { ReadCapacityUnits: 1, WriteCapacityUnits: 1 }

/** A table whose creation a killed process left unfinished can neither be used nor deleted; an update finishes it. */
const finishTable = (documents: DynamoDBDocumentClient, name: TableName) => {
  const { indexes = {} }: TableDefinition = tables[name]
  return documents.send(
    new UpdateTableCommand({
      TableName: name,
      BillingMode: 'PROVISIONED',
      ProvisionedThroughput: leastThroughput,
      ...(Object.keys(indexes).length > 0 && {
        GlobalSecondaryIndexUpdates: Object.keys(indexes).map((IndexName) => ({
          Update: { IndexName, ProvisionedThroughput: leastThroughput },
        })),
      }),
    }),
  )
}

const statusOf = async (documents: DynamoDBDocumentClient, name: TableName): Promise<TableStatus | undefined> => {
  try {
    return (await documents.send(new DescribeTableCommand({ TableName: name }))).Table?.TableStatus
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined
    throw error
  }
}

/** Makes a table that is not there yet. Resolves when it can be used, which is a moment after the store has said that it is made. */
const ensureTable = async (documents: DynamoDBDocumentClient, name: TableName): Promise<void> => {
  const found = await statusOf(documents, name)
  if (found === 'ACTIVE') return
  await (found === undefined ? createTable : finishTable)(documents, name)
  while ((await statusOf(documents, name)) !== 'ACTIVE');
}

/** dynalite closes its files after the last connection, and calls back only then. */
const closeTables = async (server: Server, closeServer: () => Promise<void>): Promise<void> => {
  const filesClosed = new Promise<void>((resolve, reject) => {
    const close = server.close.bind(server)
    server.close = () => close((error) => (error ? reject(error) : resolve()))
  })
  await closeServer()
  await filesClosed
}

/** Opens the tables in the directory and serves them on a socket, to this process and to others of the same user. The caller holds the lock. */
export const openEmbeddedTables = async ({ tables: path }: DataDirectory, socket: string): Promise<EmbeddedTables> => {
  const server: Server = dynalite({ path, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
  shieldFromBrokenRequests(server)
  const closeServer = closerOf(server)
  // Whoever held the lock before and was killed may have left its socket behind.
  rmSync(socket, { force: true })
  server.listen(socket)
  await once(server, 'listening')
  chmodSync(socket, 0o600)

  const { documents } = connectToTables(socket)
  await Promise.all((Object.keys(tables) as TableName[]).map((name) => ensureTable(documents, name)))
  return {
    documents,
    async close() {
      documents.destroy()
      await closeTables(server, closeServer)
    },
  }
}
