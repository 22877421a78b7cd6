import { setTimeout as sleep } from 'node:timers/promises'
import {
  BatchGetCommand,
  type BatchGetCommandInput,
  BatchWriteCommand,
  type BatchWriteCommandInput,
  type DynamoDBDocumentClient,
} from '@aws-sdk/lib-dynamodb'
import { ServiceError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import type { Allowance } from '../calls/in-time.ts'

type KeysAndAttributes = NonNullable<BatchGetCommandInput['RequestItems']>[string]
export type ItemKey = NonNullable<KeysAndAttributes['Keys']>[number]
export type WriteRequest = NonNullable<BatchWriteCommandInput['RequestItems']>[string][number]

/** What one call may hold. */
const mostGets = 100
const mostWrites = 25

const getsAtOnce = 16
const writesAtOnce = 8

const defaultPatience = 8_000
const longestPause = 1_000

export interface BatchOptions {
  readonly client: DynamoDBDocumentClient
  readonly table: string
  /** How long a store that makes no progress is tried again, in milliseconds. */
  readonly patience?: number
  /** The time that writes have. */
  readonly allowance?: Allowance
}

/** Pieces of so many values, in their order. */
export const chunksOf = <Value>(values: readonly Value[], size: number): Value[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, index) => values.slice(index * size, (index + 1) * size))

/**
 * Sends requests until the store has taken all of them: it may leave any part of a call undone, because it is busy or because
 * its answer would grow too large. Errors: unavailable, when it takes none of them for as long as `patience`.
 */
const sendAll = async <Request>(
  requests: Request[],
  send: (requests: Request[]) => Promise<Request[]>,
  patience: number,
): Promise<void> => {
  let left = await send(requests)
  let before = requests.length
  let deadline = Date.now() + patience
  for (let attempt = 0; left.length > 0; attempt++) {
    if (left.length < before) {
      attempt = 0
      deadline = Date.now() + patience
    }
    // Full jitter: callers that were throttled together do not come back together.
    const pause = Math.random() * Math.min(longestPause, 25 * 2 ** attempt)
    if (Date.now() + pause > deadline) throw new ServiceError('unavailable')
    await sleep(pause)
    before = left.length
    left = await send(left)
  }
}

type ReadOptions = Pick<KeysAndAttributes, 'ConsistentRead' | 'ProjectionExpression' | 'ExpressionAttributeNames'>

/**
 * Reads items by their keys, which differ from each other, in parallel calls; those that do not exist are left out, and the order is any.
 * Errors: unavailable.
 */
export const batchGet = async (
  { client, table, patience = defaultPatience }: BatchOptions,
  keys: readonly ItemKey[],
  options: ReadOptions = {},
): Promise<Record<string, unknown>[]> => {
  const items: Record<string, unknown>[] = []
  const get = async (some: ItemKey[]): Promise<ItemKey[]> => {
    // What is left undone is asked for with the same options: not every store repeats them.
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetCommand({ RequestItems: { [table]: { ...options, Keys: some } } }),
    )
    items.push(...(Responses?.[table] ?? []))
    return UnprocessedKeys?.[table]?.Keys ?? []
  }
  await inParallel(chunksOf(keys, mostGets), getsAtOnce, (chunk) => sendAll(chunk, get, patience))
  return items
}

/**
 * Puts and deletes items, each key once, in parallel calls. When it fails, some may be done and others not: repeating is safe.
 * Errors: unavailable.
 */
export const batchWrite = async (
  { client, table, patience = defaultPatience, allowance }: BatchOptions,
  requests: readonly WriteRequest[],
): Promise<void> => {
  const write = async (some: WriteRequest[]): Promise<WriteRequest[]> => {
    allowance?.check()
    const { UnprocessedItems } = await client.send(
      new BatchWriteCommand({ RequestItems: { [table]: some } }),
      allowance && { abortSignal: allowance.abortSignal },
    )
    return UnprocessedItems?.[table] ?? []
  }
  await inParallel(chunksOf(requests, mostWrites), writesAtOnce, (chunk) => sendAll(chunk, write, patience))
}
