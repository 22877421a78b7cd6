import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DeleteTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createDocumentClient } from '../../lib/dynamodb.ts'
import { type TableName, tables } from '../../lib/tables.ts'
import { openDataDirectory } from '../../local/data-directory.ts'
import { connectToTables, embeddedTableNames, openEmbeddedTables, tableCreation } from '../../local/embedded-tables.ts'

/** Empty tables of a store, which a test has for itself. */
export interface TestTables {
  readonly names: { readonly [Name in TableName]: string }
  /** A client of its own, to which a test may do what it likes. */
  connect(): DynamoDBDocumentClient
  /** Removes the tables. */
  close(): Promise<void>
}

const openEmbedded = async (): Promise<TestTables> => {
  const path = await mkdtemp(join(tmpdir(), 'site-admin-'))
  const directory = openDataDirectory(path)
  const server = await openEmbeddedTables(directory, directory.socket)
  const clients: { close(): Promise<void> }[] = []
  return {
    names: embeddedTableNames,
    connect() {
      const client = connectToTables(directory.socket)
      clients.push(client)
      return client.documents
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()))
      await server.close()
      await rm(path, { recursive: true, force: true })
    },
  }
}

const openRemote = async (): Promise<TestTables> => {
  const run = randomUUID()
  const entries = (Object.keys(tables) as TableName[]).map((name) => [name, `site-admin-test-${run}-${name}`] as const)
  const names = Object.fromEntries(entries) as { [Name in TableName]: string }
  const documents = createDocumentClient()
  await Promise.all(
    entries.map(async ([name, tableName]) => {
      await documents.send(tableCreation(name, tableName))
      await waitUntilTableExists({ client: documents, maxWaitTime: 60 }, { TableName: tableName })
    }),
  )
  return {
    names,
    connect: () => createDocumentClient(),
    async close() {
      await Promise.all(entries.map(([, TableName]) => documents.send(new DeleteTableCommand({ TableName }))))
      documents.destroy()
    },
  }
}

/** Tables in the embedded store; with `AWS_ENDPOINT_URL`, in whatever speaks DynamoDB there. */
export const openTestTables = (): Promise<TestTables> =>
  process.env['AWS_ENDPOINT_URL'] ? openRemote() : openEmbedded()
