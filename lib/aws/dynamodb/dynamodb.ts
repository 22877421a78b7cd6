import { ConditionalCheckFailedException, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, paginateQuery, type QueryCommandInput } from '@aws-sdk/lib-dynamodb'
import { callTimes } from '../calls/call-times.ts'
import { failLikePort } from '../calls/store-failure.ts'

/** A table, and the client that it is reached by: what the adapter of a port is made of. */
export interface TableOptions {
  readonly dynamodb: DynamoDBDocumentClient
  readonly table: string
}

/** A document client whose calls end, one way or the other, long before the caller's own deadline. */
export const createDocumentClient = (config: DynamoDBClientConfig = {}): DynamoDBDocumentClient => {
  const client = new DynamoDBClient({
    maxAttempts: 3,
    requestHandler: callTimes,
    ...config,
  })
  failLikePort(client)
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } })
}

/** Whether a conditional write was refused because its condition did not hold. */
export const isConditionFailure = (error: unknown): error is ConditionalCheckFailedException =>
  error instanceof ConditionalCheckFailedException

/** Every item of a query, page after page. For lists that are bounded by their own nature. */
export const queryAll = async (client: DynamoDBDocumentClient, input: QueryCommandInput): Promise<unknown[]> => {
  const items: unknown[] = []
  for await (const page of paginateQuery({ client }, input)) items.push(...(page.Items ?? []))
  return items
}
