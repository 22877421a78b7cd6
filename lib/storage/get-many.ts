import { setTimeout as sleep } from 'node:timers/promises'
import { BatchGetCommand, type DynamoDBDocumentClient, type NativeAttributeValue } from '@aws-sdk/lib-dynamodb'

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
