import type { ServerResponse } from 'node:http'
import { type AttributeValue, ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { constructStack } from '@smithy/core/client'
import { failLikePort } from '../../lib/aws/calls/client-calls.ts'
import { createDocumentClient } from '../../lib/aws/dynamodb/dynamodb.ts'
import { type TableDefinition, tables } from '../../lib/config/tables.ts'
import { compareValues, holds, type Item, project, type Terms, updateItem } from './dynamodb-expressions.ts'
import { ownNames } from './tables.ts'

interface Input extends Terms {
  readonly TableName: string
  readonly IndexName?: string
  readonly Key: Item
  readonly Item: Item
  readonly ConditionExpression?: string
  readonly UpdateExpression?: string
  readonly KeyConditionExpression?: string
  readonly FilterExpression?: string
  readonly ReturnValues?: string
  readonly ScanIndexForward?: boolean
  readonly Limit?: number
  readonly ExclusiveStartKey?: Item
  readonly Select?: string
  readonly RequestItems: Readonly<Record<string, unknown>>
}

interface BatchRead extends Terms {
  readonly Keys: readonly Item[]
}

interface BatchWrite {
  readonly PutRequest?: { readonly Item: Item }
  readonly DeleteRequest?: { readonly Key: Item }
}

/** A copy of a value, without undefined members, as DynamoDB stores it. */
const copyOf = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf)
  if (value instanceof Set) return new Set(value)
  if (value instanceof Uint8Array) return Uint8Array.from(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [name, copyOf(member)]))
}
const copyOfItem = (item: Item): Item => copyOf(item) as Item

const createTable = ({ partitionKey, sortKey, indexes, timeToLive = '' }: TableDefinition, now: () => number) => {
  const keys = [partitionKey, ...(sortKey ? [sortKey] : [])].map(({ name }) => name)
  const partitions = new Map<unknown, Map<unknown, Item>>()
  const sortOf = (key: Item) => (sortKey ? key[sortKey.name] : undefined)
  const partitionOf = (key: Item) => partitions.get(key[partitionKey.name])
  // DynamoDB removes items within days after their expiry. Here they are gone at once, so an early expiry is visible.
  const isKept = (item: Item | undefined) => item !== undefined && !(Number(item[timeToLive]) * 1000 <= now())
  return {
    indexes,
    keys,
    get(key: Item): Item | undefined {
      const item = partitionOf(key)?.get(sortOf(key))
      return isKept(item) ? item : undefined
    },
    put(item: Item): void {
      const partition = partitionOf(item) ?? new Map<unknown, Item>()
      partitions.set(item[partitionKey.name], partition)
      partition.set(sortOf(item), copyOfItem(item))
    },
    delete: (key: Item) => void partitionOf(key)?.delete(sortOf(key)),
    all: () => [...partitions.values()].flatMap((partition) => [...partition.values()]).filter(isKept),
    within: (values: ReadonlySet<unknown>) =>
      [...values].flatMap((value) => [...(partitions.get(value)?.values() ?? [])]).filter(isKept),
  }
}
type Table = ReturnType<typeof createTable>

const conditionFailed = () =>
  new ConditionalCheckFailedException({ message: 'The conditional request failed', $metadata: {} })

const write = (table: Table, key: Item, input: Input, after: (before: Item | undefined) => Item | undefined) => {
  const before = table.get(key)
  if (!holds(input.ConditionExpression, before ?? {}, input)) throw conditionFailed()
  const item = after(before)
  if (item) table.put(item)
  else table.delete(key)
  return { before, item }
}

const put = (table: Table, input: Input) => {
  const { before } = write(table, input.Item, input, () => input.Item)
  return { Attributes: input.ReturnValues === 'ALL_OLD' ? before : undefined }
}

const remove = (table: Table, input: Input) => {
  const { before } = write(table, input.Key, input, () => undefined)
  return { Attributes: input.ReturnValues === 'ALL_OLD' ? before : undefined }
}

const update = (table: Table, input: Input) => {
  let changed: readonly string[] = []
  const { before = {}, item = {} } = write(table, input.Key, input, (before = input.Key) => {
    const updated = updateItem(input.UpdateExpression, before, input)
    changed = updated.changed
    return updated.item
  })
  const [age, extent] = [/_OLD$/, /^ALL_/].map((part) => part.test(input.ReturnValues ?? ''))
  const source = age ? before : item
  if (!input.ReturnValues) return {}
  return {
    Attributes: extent
      ? source
      : Object.fromEntries(changed.flatMap((name) => (name in source ? [[name, source[name]]] : []))),
  }
}

const read = (table: Table, input: Input) => {
  const index = input.IndexName === undefined ? undefined : table.indexes?.[input.IndexName]
  const order = [...(index ? [index.partitionKey.name, index.sortKey.name] : []), ...table.keys]
  // The items of a scan have no useful order, so a caller that needs an order must sort them.
  const isBackward = input.KeyConditionExpression === undefined || input.ScanIndexForward === false
  const compare = (one: Item, other: Item): number => {
    const name = order.find((name) => compareValues(one[name], other[name]) !== 0)
    const difference = name === undefined ? 0 : compareValues(one[name], other[name])
    return isBackward ? -difference : difference
  }
  const values = new Set(Object.values(input.ExpressionAttributeValues ?? {}))
  const source = index || input.KeyConditionExpression === undefined ? table.all() : table.within(values)
  const found = source.filter((item) => holds(input.KeyConditionExpression, item, input)).toSorted(compare)
  const { ExclusiveStartKey: start, Limit = found.length } = input
  const left = start ? found.filter((item) => compare(item, start) > 0) : found
  const page = left.slice(0, Limit)
  const last = page.length < left.length ? page.at(-1) : undefined
  const items = page.filter((item) => holds(input.FilterExpression, item, input))
  return {
    Items: input.Select === 'COUNT' ? undefined : items.map((item) => project(item, input)),
    Count: items.length,
    LastEvaluatedKey: last && Object.fromEntries(order.map((name) => [name, last[name]])),
  }
}

const calls: Readonly<Record<string, (table: Table, input: Input) => object>> = {
  GetItemCommand(table, input) {
    const item = table.get(input.Key)
    return { Item: item && project(item, input) }
  },
  PutItemCommand: put,
  UpdateItemCommand: update,
  DeleteItemCommand: remove,
  QueryCommand: read,
  ScanCommand: read,
  BatchGetItemCommand: (table, input) => ({
    Responses: Object.fromEntries(
      Object.entries(input.RequestItems as Readonly<Record<string, BatchRead>>).map(([name, wanted]) => {
        const found = wanted.Keys.map((key) => table.get(key)).filter((item) => item !== undefined)
        return [name, found.map((item) => project(item, wanted))]
      }),
    ),
  }),
  BatchWriteItemCommand(table, input) {
    for (const writes of Object.values(input.RequestItems as Readonly<Record<string, readonly BatchWrite[]>>)) {
      for (const { PutRequest, DeleteRequest } of writes) {
        if (PutRequest) table.put(PutRequest.Item)
        if (DeleteRequest) table.delete(DeleteRequest.Key)
      }
    }
    return {}
  },
}

/** The SDK calls these commands by other names in its middleware. */
const nameOf = (command: object): string =>
  command.constructor.name.replace(/(?<=^(Get|Put|Update|Delete|BatchGet|BatchWrite))Command$/, 'ItemCommand')

const repeat = async <Result extends { readonly output: object }>(
  call: () => Promise<Result>,
  mostAttempts: number,
  attempts = 1,
): Promise<Result> => {
  try {
    const result = await call()
    Object.assign(result.output, { $metadata: { attempts } })
    return result
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) error.$metadata.attempts = attempts
    const isOver = attempts >= mostAttempts || !(error instanceof Error && /^(SlowDown|TimeoutError)$/.test(error.name))
    if (isOver) throw error
    return repeat(call, mostAttempts, attempts + 1)
  }
}

const types = new Set(['S', 'N', 'B', 'BOOL', 'NULL', 'M', 'L', 'SS', 'NS', 'BS'])

/** Replaces each attribute value of a request, such as `{ "N": "7" }`, by its value. */
const decode = (given: unknown): unknown => {
  if (typeof given !== 'object' || given === null) return given
  if (Array.isArray(given)) return given.map(decode)
  const members = Object.entries(given)
  if (members.length === 1 && types.has(String(members[0]?.[0])))
    return unmarshall({ given: given as AttributeValue })['given']
  return Object.fromEntries(members.map(([name, member]) => [name, decode(member)]))
}

const bytesFrom = (name: string, value: unknown) =>
  name === 'B' && typeof value === 'string' ? Buffer.from(value, 'base64') : value
const bytesAsText = (_: string, value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value

const encode = (output: object): object =>
  Object.fromEntries(
    Object.entries(output).map(([name, value]) => {
      if (typeof value !== 'object') return [name, value]
      if (name === 'Responses') return [name, encode(value)]
      return [name, Array.isArray(value) ? value.map((item) => marshall(item)) : marshall(value)]
    }),
  )

type Stack = ReturnType<typeof constructStack<object, object>>

/**
 * The tables of the service in memory. A client of the SDK would take most of the time of a call, so these clients have
 * only the steps that a test adds. Items expire by the clock of the test. Without a clock, they stay.
 */
export const openMemoryTables = (now = () => 0) => {
  const all = new Map(Object.entries(tables).map(([name, definition]) => [name, createTable(definition, now)]))
  const answer = (command: string, input: Input): object => {
    const table = all.get(input.TableName ?? Object.keys(input.RequestItems)[0])
    const call = calls[command]
    if (!table || !call) throw new Error(`The tables in memory do not know ${command} ${input.TableName}`)
    return copyOf(call(table, input)) as object
  }
  const connect = (maxAttempts = 3): DynamoDBDocumentClient => {
    const middlewareStack: Stack = constructStack()
    failLikePort({ middlewareStack })
    middlewareStack.add((next) => (args) => repeat(() => next(args), maxAttempts), { step: 'finalizeRequest' })
    const send = async (command: { readonly input: object }, { abortSignal }: { abortSignal?: AbortSignal } = {}) => {
      const commandName = nameOf(command)
      const handler = middlewareStack.resolve(
        async ({ input }) => {
          abortSignal?.throwIfAborted()
          return { response: undefined, output: answer(commandName, input as Input) }
        },
        { commandName },
      )
      return (await handler({ input: command.input })).output
    }
    return Object.assign(createDocumentClient({ region: 'local' }), {
      middlewareStack: middlewareStack as unknown as DynamoDBDocumentClient['middlewareStack'],
      send: send as DynamoDBDocumentClient['send'],
    })
  }
  /** Answers a request of another process. Returns false for a request to another service. */
  const answerCall = (target: unknown, body: Buffer, response: ServerResponse): boolean => {
    const [, command] = /^DynamoDB_\d+\.(\w+)$/.exec(String(target)) ?? []
    if (command === undefined) return false
    const headers = { 'Content-Type': 'application/x-amz-json-1.0' }
    try {
      const output = answer(`${command}Command`, decode(JSON.parse(body.toString(), bytesFrom)) as Input)
      response.writeHead(200, headers).end(JSON.stringify(encode(output), bytesAsText))
    } catch (error) {
      const { name, message } = error as Error
      response.writeHead(400, headers).end(JSON.stringify({ __type: name, message }))
    }
    return true
  }
  return { names: ownNames, connect, answerCall, close: async () => {} }
}
