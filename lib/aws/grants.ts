import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, PutCommand, paginateScan } from '@aws-sdk/lib-dynamodb'
import type { Grants } from '../access/grants.ts'
import { type Grant, storedGrant } from '../access/grants.ts'

/** Grants in the global table Tokens: one item for each. */
export const createGrants = (client: DynamoDBDocumentClient, table: string): Grants => ({
  async get(hash) {
    const { Item: item } = await client.send(new GetCommand({ TableName: table, Key: { hash } }))
    return item && storedGrant(item)
  },

  async put(grant) {
    await client.send(new PutCommand({ TableName: table, Item: { ...grant } satisfies Record<keyof Grant, unknown> }))
  },

  async remove(hash) {
    const { Attributes } = await client.send(
      new DeleteCommand({ TableName: table, Key: { hash }, ReturnValues: 'ALL_OLD' }),
    )
    return Attributes !== undefined
  },

  async *list() {
    for await (const page of paginateScan({ client }, { TableName: table })) {
      for (const item of page.Items ?? []) yield storedGrant(item)
    }
  },
})
