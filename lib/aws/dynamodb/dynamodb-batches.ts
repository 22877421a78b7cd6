import { setTimeout as sleep } from 'node:timers/promises'
import {
  BatchGetCommand,
  type BatchGetCommandInput,
  BatchWriteCommand,
  type BatchWriteCommandInput,
} from '@aws-sdk/lib-dynamodb'
import type { Deadline } from '../../core/deadline.ts'
import { ServiceError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import type { Attributes, Key, Table } from './dynamodb.ts'

type KeysAndAttributes = NonNullable<BatchGetCommandInput['RequestItems']>[string]
type ItemKey = NonNullable<KeysAndAttributes['Keys']>[number]
export type WriteRequest = NonNullable<BatchWriteCommandInput['RequestItems']>[string][number]

// The limits of one call.
const mostGets = 100
const mostWrites = 25

const getsAtOnce = 16
const writesAtOnce = 8

const longestStall = 8_000
const longestPause = 1_000

export interface BatchOptions extends Pick<Table, 'client' | 'name'> {
  // Milliseconds without progress after which a store counts as unavailable.
  readonly longestStall?: number
  // For writes.
  readonly deadline?: Deadline | undefined
}

export const chunksOf = <Value>(values: readonly Value[], size: number): Value[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, index) => values.slice(index * size, (index + 1) * size))

/**
 * Sends requests until the store has taken all of them. It may leave some undone, because it is busy or its answer
 * would be too large. Errors: unavailable, after `stall` milliseconds without progress.
 */
const sendAll = async <Request>(
  requests: Request[],
  send: (requests: Request[]) => Promise<Request[]>,
  stall: number,
): Promise<void> => {
  let left = await send(requests)
  let before = requests.length
  let end = Date.now() + stall
  for (let attempt = 0; left.length > 0; attempt++) {
    if (left.length < before) {
      attempt = 0
      end = Date.now() + stall
    }
    // Full jitter: callers that were throttled together do not come back together.
    const pause = Math.random() * Math.min(longestPause, 25 * 2 ** attempt)
    if (Date.now() + pause > end) throw new ServiceError('unavailable')
    await sleep(pause)
    before = left.length
    left = await send(left)
  }
}

/**
 * Reads items by distinct keys in parallel calls, in any order. It leaves out keys without an item. Errors:
 * unavailable.
 */
export const batchGet = async (
  { client, name, longestStall: stall = longestStall }: BatchOptions,
  keys: readonly Key[],
  options: Pick<KeysAndAttributes, 'ConsistentRead' | 'ProjectionExpression' | 'ExpressionAttributeNames'> = {},
): Promise<readonly Attributes[]> => {
  const items: Attributes[] = []
  const get = async (some: ItemKey[]): Promise<ItemKey[]> => {
    // Not every store repeats the options with the keys that it leaves undone.
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetCommand({ RequestItems: { [name]: { ...options, Keys: some } } }),
    )
    items.push(...(Responses?.[name] ?? []))
    return UnprocessedKeys?.[name]?.Keys ?? []
  }
  await inParallel(chunksOf(keys, mostGets), getsAtOnce, (chunk) => sendAll(chunk, get, stall))
  return items
}

/**
 * Puts and deletes items with distinct keys in parallel calls. A failure may leave some undone; repeating is safe.
 * Errors: unavailable.
 */
export const batchWrite = async (
  { client, name, longestStall: stall = longestStall, deadline }: BatchOptions,
  requests: readonly WriteRequest[],
): Promise<void> => {
  const write = async (some: WriteRequest[]): Promise<WriteRequest[]> => {
    deadline?.check()
    const { UnprocessedItems } = await client.send(
      new BatchWriteCommand({ RequestItems: { [name]: some } }),
      deadline && { abortSignal: deadline.signal },
    )
    return UnprocessedItems?.[name] ?? []
  }
  await inParallel(chunksOf(requests, mostWrites), writesAtOnce, (chunk) => sendAll(chunk, write, stall))
}
