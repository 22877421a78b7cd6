import { setTimeout as sleep } from 'node:timers/promises'
import { BatchGetCommand, BatchWriteCommand, type BatchWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import { ServiceError } from '../../core/errors.ts'
import { chunksOf, inParallel } from '../../core/in-parallel.ts'
import type { Deadline } from '../../core/time.ts'
import { type Key, projectionOf, type Table, written } from './dynamodb.ts'

type ItemKey = Record<string, unknown>
type WriteRequest = NonNullable<BatchWriteCommandInput['RequestItems']>[string][number]

const mostGets = 100
const mostWrites = 25

const getsAtOnce = 16
const writesAtOnce = 8

const usualStall = 8_000
const longestPause = 1_000

// Sends requests until the store has completed all of them. The store may leave some undone, because it is busy or its
// answer would be too large. Errors: unavailable, after `stall` milliseconds without progress.
const sendAll = async <Request>(
  requests: Request[],
  send: (requests: Request[]) => Promise<Request[]>,
  stall = usualStall,
): Promise<void> => {
  let end = 0
  for (let attempt = 0, left = requests; ; attempt++) {
    const before = left.length
    left = await send(left)
    if (left.length === 0) return
    if (left.length < before) attempt = 0
    if (attempt === 0) end = Date.now() + stall
    // Full jitter, so that callers that were throttled together do not repeat together.
    const pause = Math.random() * Math.min(longestPause, 25 * 2 ** attempt)
    if (Date.now() + pause > end) throw new ServiceError('unavailable')
    await sleep(pause)
  }
}

/**
 * Reads items by distinct keys, consistently, in parallel calls. The order of the result is arbitrary, and keys without
 * an item are left out. Errors: unavailable.
 */
export const batchGet = async <Item extends object>(
  { client, name, longestStall }: Table<Item>,
  keys: readonly Key[],
  { consistent = true, columns }: { readonly consistent?: boolean; readonly columns?: readonly string[] } = {},
): Promise<readonly Item[]> => {
  const options = { ConsistentRead: consistent, ...written({ ProjectionExpression: projectionOf(columns) }) }
  const items: Item[] = []
  const get = async (some: ItemKey[]): Promise<ItemKey[]> => {
    // Some stores return the keys of undone items without the options of the request.
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetCommand({ RequestItems: { [name]: { ...options, Keys: some } } }),
    )
    items.push(...((Responses?.[name] ?? []) as Item[]))
    return UnprocessedKeys?.[name]?.Keys ?? []
  }
  await inParallel(chunksOf(keys, mostGets), getsAtOnce, (chunk) => sendAll(chunk, get, longestStall))
  return items
}

const batchWrite = async (
  { client, name, longestStall }: Pick<Table, 'client' | 'name' | 'longestStall'>,
  requests: readonly WriteRequest[],
  deadline: Deadline | undefined,
): Promise<void> => {
  const write = async (some: WriteRequest[]): Promise<WriteRequest[]> => {
    deadline?.check()
    const { UnprocessedItems } = await client.send(
      new BatchWriteCommand({ RequestItems: { [name]: some } }),
      deadline && { abortSignal: deadline.signal },
    )
    return UnprocessedItems?.[name] ?? []
  }
  await inParallel(chunksOf(requests, mostWrites), writesAtOnce, (chunk) => sendAll(chunk, write, longestStall))
}

/**
 * Puts items with distinct keys in parallel calls. A failure may leave some of the items unwritten, and repeating is
 * safe. Errors: unavailable.
 */
export const batchPut = <Item extends object>(table: Table<Item>, items: readonly Item[], deadline?: Deadline) => {
  const requests = items.map((Item) => ({ PutRequest: { Item } }))
  return batchWrite(table, requests, deadline)
}

export const batchDelete = <Item extends object>(table: Table<Item>, keys: readonly Key[], deadline?: Deadline) => {
  const requests = keys.map((Key) => ({ DeleteRequest: { Key } }))
  return batchWrite(table, requests, deadline)
}
