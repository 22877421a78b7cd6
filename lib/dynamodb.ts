import { setTimeout as sleep } from 'node:timers/promises'
import { ConditionalCheckFailedException, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { NativeAttributeValue } from '@aws-sdk/lib-dynamodb'
import { BatchGetCommand, DynamoDBDocumentClient, paginateQuery, type QueryCommandInput } from '@aws-sdk/lib-dynamodb'

/** A document client whose calls end, one way or the other, long before the caller's own deadline. */
export const createDocumentClient = (config: DynamoDBClientConfig = {}): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(
    new DynamoDBClient({
      maxAttempts: 3,
      requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000 },
      ...config,
    }),
    { marshallOptions: { removeUndefinedValues: true } },
  )

/** Whether a conditional write was refused because its condition did not hold. */
export const isConditionFailure = (error: unknown): boolean => error instanceof ConditionalCheckFailedException

/** Every item of a query, page after page. For lists that are bounded by their own nature. */
export const queryAll = async (client: DynamoDBDocumentClient, input: QueryCommandInput): Promise<unknown[]> => {
  const items: unknown[] = []
  for await (const page of paginateQuery({ client }, input)) items.push(...(page.Items ?? []))
  return items
}

const batchSize = 100

/** The items of these keys that exist, read consistently. No key twice. */
export const getMany = async (
  client: DynamoDBDocumentClient,
  table: string,
  keys: readonly Record<string, NativeAttributeValue>[],
): Promise<unknown[]> => {
  const items: unknown[] = []
  const waiting = [...keys]
  for (let attempt = 0; waiting.length > 0; attempt++) {
    if (attempt > 0) await sleep(Math.random() * 50 * attempt)
    if (attempt > 5 + keys.length / batchSize)
      throw Object.assign(new Error(`${table} is busy`), { name: 'ThrottlingException' })
    const Keys = waiting.splice(0, batchSize)
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetCommand({ RequestItems: { [table]: { Keys, ConsistentRead: true } } }),
    )
    items.push(...(Responses?.[table] ?? []))
    waiting.push(...(UnprocessedKeys?.[table]?.Keys ?? []))
  }
  return items
}
