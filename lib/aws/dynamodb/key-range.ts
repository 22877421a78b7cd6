import { type DynamoDBDocumentClient, QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb'
import type { Count } from '../../categories/contents.ts'
import { largestContentId } from '../../core/ids.ts'

/** Items of one partition of a table or an index, in order of an id that their sort key holds. */
export interface KeyRange {
  readonly table: string
  readonly index?: string
  readonly partitionKey: string
  readonly partition: string | number
  readonly sortKey: string
  /** The sort key of an id, and the other way round; they sort alike. */
  readonly sortKeyOf: (id: number) => string | number
  readonly idOf: (sortKey: unknown) => number
  /** Whether reads see every write that was answered before; an index cannot. */
  readonly consistent?: boolean
}

/** What one call looks at is bounded by the store too; a larger number only has to fit. */
const mostPerCall = 1_000_000

const queryBehind = (range: KeyRange, after: number, limit: number): QueryCommandInput => ({
  TableName: range.table,
  IndexName: range.index,
  KeyConditionExpression: '#partition = :partition AND #sort BETWEEN :from AND :to',
  ExpressionAttributeNames: { '#partition': range.partitionKey, '#sort': range.sortKey },
  ExpressionAttributeValues: {
    ':partition': range.partition,
    ':from': range.sortKeyOf(after + 1),
    ':to': range.sortKeyOf(largestContentId),
  },
  Limit: Math.min(limit, mostPerCall),
  ConsistentRead: range.consistent ?? false,
})

/** The items behind an id, in order, up to `limit`; fewer only at the end. Cheap by nature: it reads no more than it answers. */
export const readRange = async (
  client: DynamoDBDocumentClient,
  range: KeyRange,
  after: number,
  limit: number,
): Promise<Record<string, unknown>[]> => {
  const items: Record<string, unknown>[] = []
  for (let last = after; items.length < limit && last < largestContentId; ) {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand(queryBehind(range, last, limit - items.length)),
    )
    for (const item of Items) items.push(item)
    if (!LastEvaluatedKey) break
    last = range.idOf(LastEvaluatedKey[range.sortKey])
  }
  return items
}

/** Counts without reading anything but keys into this process. */
export const countRange = async (
  client: DynamoDBDocumentClient,
  range: KeyRange,
  after: number,
  limit: number,
): Promise<Count> => {
  let count = 0
  let last = after
  while (count < limit && last < largestContentId) {
    const answer = await client.send(new QueryCommand({ ...queryBehind(range, last, limit - count), Select: 'COUNT' }))
    count += answer.Count ?? 0
    if (!answer.LastEvaluatedKey) return { count, last, ended: true }
    last = range.idOf(answer.LastEvaluatedKey[range.sortKey])
  }
  return { count, last, ended: last >= largestContentId }
}
