import { ConditionalCheckFailedException, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import {
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { failLikePort, smallCallTimeouts } from '../calls/client-calls.ts'

/** A table and the client that reaches it. */
export interface TableOptions {
  readonly dynamodb: DynamoDBDocumentClient
  readonly table: string
}

/** A client whose calls end long before the deadline of a request. */
export const createDocumentClient = (config: DynamoDBClientConfig = {}): DynamoDBDocumentClient => {
  const client = new DynamoDBClient({
    maxAttempts: 3,
    requestHandler: smallCallTimeouts,
    ...config,
  })
  failLikePort(client)
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } })
}

/** The condition of a write did not hold. */
export const isConditionFailure = (error: unknown): error is ConditionalCheckFailedException =>
  error instanceof ConditionalCheckFailedException

export type Attributes = Readonly<Record<string, unknown>>
export type Key = Readonly<Record<string, string | number>>

/** Expressions name attributes with `#` in front. */
interface Expressions {
  readonly condition?: string
  readonly values?: Attributes
}

/** One update of an item. `returns` is what `update` answers; nothing unless given. */
export interface ItemChange extends Expressions {
  readonly update: string
  readonly returns?: 'ALL_OLD' | 'ALL_NEW' | 'UPDATED_OLD'
}

/** One query. `where` is the condition on the keys; `columns` names the attributes to read, all unless given. */
export interface Query {
  readonly where: string
  readonly values: Attributes
  readonly index?: string | undefined
  readonly filter?: string | undefined
  readonly columns?: readonly string[]
  readonly newestFirst?: boolean
  readonly limit?: number
  readonly consistent?: boolean
  readonly start?: Attributes | undefined
  readonly countOnly?: boolean
}

/** One answer of a query; `last` is where the next one starts. */
interface Page {
  readonly items: readonly Attributes[]
  readonly count: number
  readonly last: Attributes | undefined
}

const namesIn = (...expressions: readonly (string | undefined)[]) => {
  const names = expressions.join(' ').match(/#\w+/g) ?? []
  return (
    names.length > 0 && { ExpressionAttributeNames: Object.fromEntries(names.map((name) => [name, name.slice(1)])) }
  )
}

const valuesOf = (values: Attributes = {}) => Object.keys(values).length > 0 && { ExpressionAttributeValues: values }

const conditionOf = ({ condition, values }: Expressions) => ({
  ...(condition !== undefined && { ConditionExpression: condition }),
  ...valuesOf(values),
})

/** Answers undefined when the condition of a write did not hold. */
const unlessRefused = async <Output>(call: Promise<Output>): Promise<Output | undefined> => {
  try {
    return await call
  } catch (error) {
    if (isConditionFailure(error)) return undefined
    throw error
  }
}

export type Table = ReturnType<typeof openTable>

/** The calls on one table. A write whose condition does not hold answers false or undefined. Errors: unavailable. */
export const openTable = ({ dynamodb: client, table: TableName }: TableOptions) => {
  return {
    client,
    name: TableName,

    async get(key: Key, ConsistentRead = true): Promise<Attributes | undefined> {
      return (await client.send(new GetCommand({ TableName, Key: key, ConsistentRead }))).Item
    },

    async put(Item: object, expressions: Expressions = {}, signal?: AbortSignal): Promise<boolean> {
      const command = new PutCommand({
        TableName,
        Item,
        ...namesIn(expressions.condition),
        ...conditionOf(expressions),
      })
      return (await unlessRefused(client.send(command, signal && { abortSignal: signal }))) !== undefined
    },

    // Puts an item without a condition and answers the one that was there.
    async replace(Item: object): Promise<Attributes | undefined> {
      return (await client.send(new PutCommand({ TableName, Item, ReturnValues: 'ALL_OLD' }))).Attributes
    },

    async update(key: Key, change: ItemChange, signal?: AbortSignal): Promise<Attributes | undefined> {
      const command = new UpdateCommand({
        TableName,
        Key: key,
        UpdateExpression: change.update,
        ...namesIn(change.update, change.condition),
        ...conditionOf(change),
        ...(change.returns && { ReturnValues: change.returns }),
      })
      const done = await unlessRefused(client.send(command, signal && { abortSignal: signal }))
      return done && (done.Attributes ?? {})
    },

    async delete(key: Key, expressions: Expressions = {}): Promise<boolean> {
      const command = { TableName, Key: key, ...namesIn(expressions.condition), ...conditionOf(expressions) }
      return (await unlessRefused(client.send(new DeleteCommand(command)))) !== undefined
    },

    // Deletes an item and answers it as it was; undefined when there was none.
    async take(key: Key): Promise<Attributes | undefined> {
      return (await client.send(new DeleteCommand({ TableName, Key: key, ReturnValues: 'ALL_OLD' }))).Attributes
    },
  }
}

// Apart from the other calls: a function that never queries does not carry the command.
export const queryPage = async (
  { client, name }: Pick<Table, 'client' | 'name'>,
  { where, values, index, filter, columns, newestFirst, limit, consistent, start, countOnly }: Query,
  signal?: AbortSignal,
): Promise<Page> => {
  const projection = columns?.map((column) => `#${column}`).join(', ')
  const command = new QueryCommand({
    TableName: name,
    IndexName: index,
    KeyConditionExpression: where,
    FilterExpression: filter,
    ProjectionExpression: projection,
    ...namesIn(where, filter, projection),
    ...valuesOf(values),
    ...(newestFirst && { ScanIndexForward: false }),
    Limit: limit,
    ConsistentRead: consistent,
    ExclusiveStartKey: start,
    ...(countOnly && { Select: 'COUNT' as const }),
  })
  const { Items = [], Count = 0, LastEvaluatedKey } = await client.send(command, signal && { abortSignal: signal })
  return { items: Items, count: Count, last: LastEvaluatedKey }
}

/** All pages of a query. Only for lists that cannot grow long. */
export const queryAll = async (table: Pick<Table, 'client' | 'name'>, query: Query): Promise<readonly Attributes[]> => {
  const items: Attributes[] = []
  let start: Attributes | undefined
  do {
    const page: Page = await queryPage(table, { ...query, start })
    items.push(...page.items)
    start = page.last
  } while (start)
  return items
}
