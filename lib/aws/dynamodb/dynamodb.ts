import { ConditionalCheckFailedException, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import {
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateScan,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { failLikePort, smallCallTimeouts } from '../calls/client-calls.ts'

export interface TableOptions {
  readonly dynamodb: DynamoDBDocumentClient
  readonly table: string
  // In milliseconds: after this time without progress, a batch fails.
  readonly longestStall?: number | undefined
  readonly now?: (() => number) | undefined
}

/** A client whose calls end long before the deadline of a request. */
export const createDocumentClient = (config: DynamoDBClientConfig = {}): DynamoDBDocumentClient => {
  const client = new DynamoDBClient({ maxAttempts: 3, requestHandler: smallCallTimeouts, ...config })
  failLikePort(client)
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } })
}

export const isConditionFailure = (error: unknown): error is ConditionalCheckFailedException =>
  error instanceof ConditionalCheckFailedException

export type Attributes = Readonly<Record<string, unknown>>
export type Key = Readonly<Record<string, string | number>>

export interface Write {
  readonly condition?: string
  readonly values?: Attributes
  readonly signal?: AbortSignal
}

/**
 * One update of an item, which creates a missing item. Conditions may use the values to `set` by the names of their
 * columns. `update` has the clauses besides `set`. `returns` selects the result of `update`; by default there is none.
 */
export interface ItemChange extends Write {
  readonly set?: Attributes
  readonly update?: string
  readonly returns?: 'ALL_NEW' | 'UPDATED_OLD' | undefined
}

/** `where` is the condition on the keys. `columns` names the attributes to read; by default all are read. */
export interface Query {
  readonly where: string
  readonly values: Attributes
  readonly index?: string | undefined
  readonly filter?: string
  readonly columns?: readonly string[]
  readonly newestFirst?: boolean
  readonly consistent?: boolean
  readonly countOnly?: boolean
}

interface Page<Item> {
  readonly items: readonly Item[]
  readonly count: number
  readonly last: Attributes | undefined
}

const placeholders = (values: Attributes = {}, ...expressions: readonly (string | undefined)[]) => {
  const names = expressions.join(' ').match(/#\w+/g) ?? []
  return {
    ...(names.length > 0 && {
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [name, name.slice(1)])),
    }),
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  }
}

const conditional = ({ condition, values }: Write, ...others: readonly (string | undefined)[]) => ({
  ConditionExpression: condition,
  ...placeholders(values, condition, ...others),
})

const endingAt = (signal: AbortSignal | undefined) => signal && { abortSignal: signal }

const ifConditionHolds = async <Output>(call: Promise<Output>): Promise<Output | undefined> => {
  try {
    return await call
  } catch (error) {
    if (isConditionFailure(error)) return undefined
    throw error
  }
}

/** Only this service writes to these tables, so all items have the declared type. */
export type Table<Item extends object = Attributes> = ReturnType<typeof openTable<Item>>

/**
 * The calls on one table. If the condition of a write is false, the call returns false or undefined. Errors:
 * unavailable.
 */
export const openTable = <Item extends object = Attributes>({ dynamodb, table, longestStall }: TableOptions) => {
  const TableName = table
  return {
    client: dynamodb,
    name: table,
    longestStall,

    async get(key: Key, ConsistentRead = true): Promise<Item | undefined> {
      return (await dynamodb.send(new GetCommand({ TableName, Key: key, ConsistentRead }))).Item as Item | undefined
    },

    async put(item: Item, write: Write = {}): Promise<boolean> {
      const command = new PutCommand({ TableName, Item: item, ...conditional(write) })
      return (await ifConditionHolds(dynamodb.send(command, endingAt(write.signal)))) !== undefined
    },

    async update<Returns extends ItemChange['returns'] = undefined>(
      key: Key,
      { set = {}, update, returns, signal, ...write }: ItemChange & { readonly returns?: Returns },
    ) {
      const columns = Object.keys(set)
      const assignments = columns.map((column) => `#${column} = :${column}`).join(', ')
      const clauses = [assignments && `SET ${assignments}`, update].filter((clause) => clause)
      const UpdateExpression = clauses.join(' ') || undefined
      const values = { ...write.values, ...Object.fromEntries(columns.map((column) => [`:${column}`, set[column]])) }
      const command = new UpdateCommand({
        TableName,
        Key: key,
        UpdateExpression,
        ReturnValues: returns,
        ...conditional({ ...write, values }, UpdateExpression),
      })
      const done = await ifConditionHolds(dynamodb.send(command, endingAt(signal)))
      return done && ((done.Attributes ?? {}) as Returns extends 'ALL_NEW' ? Item : Partial<Item>)
    },

    async take(key: Key): Promise<Item | undefined> {
      const command = new DeleteCommand({ TableName, Key: key, ReturnValues: 'ALL_OLD' })
      return (await dynamodb.send(command)).Attributes as Item | undefined
    },

    /**
     * Returns false if there was no item, if the condition is false, or if another call removed the item meanwhile. A
     * repeated call cannot tell whether it removed the item, so the item is read first. Callers with a condition have
     * just read it.
     */
    async remove(key: Key, write: Write = {}): Promise<boolean> {
      if (write.condition === undefined && !(await this.get(key))) return false
      const command = new DeleteCommand({ TableName, Key: key, ReturnValues: 'ALL_OLD', ...conditional(write) })
      try {
        const { Attributes, $metadata } = await dynamodb.send(command)
        return Attributes !== undefined || $metadata.attempts !== 1
      } catch (error) {
        if (!isConditionFailure(error)) throw error
        return error.$metadata.attempts !== 1 && !(await this.get(key))
      }
    },
  }
}

// DynamoDB itself bounds the size of a page, so this only has to be a valid number.
const mostPerCall = 1_000_000

const queryPage = async <Item extends object>(
  { client, name }: Table<Item>,
  { where, values, index, filter, columns, newestFirst, consistent, countOnly }: Query,
  limit: number,
  { start, signal }: { readonly start?: Attributes | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<Page<Item>> => {
  const projection = columns?.map((column) => `#${column}`).join(', ')
  const command = new QueryCommand({
    TableName: name,
    IndexName: index,
    KeyConditionExpression: where,
    FilterExpression: filter,
    ProjectionExpression: projection,
    ...placeholders(values, where, filter, projection),
    ScanIndexForward: newestFirst ? false : undefined,
    Limit: Math.min(limit, mostPerCall),
    ConsistentRead: consistent,
    ExclusiveStartKey: start,
    Select: countOnly ? 'COUNT' : undefined,
  })
  const { Items = [], Count = 0, LastEvaluatedKey } = await client.send(command, endingAt(signal))
  return { items: Items as Item[], count: Count, last: LastEvaluatedKey }
}

/**
 * Yields the pages of a query. Before each page, `missing` returns how many items are still wanted. The pages end when
 * it returns 0.
 */
export async function* queryPages<Item extends object>(
  table: Table<Item>,
  query: Query,
  missing: () => number = () => Number.POSITIVE_INFINITY,
): AsyncGenerator<Page<Item>, void> {
  let start: Attributes | undefined
  for (let limit = missing(); limit > 0; limit = missing()) {
    const page: Page<Item> = await queryPage(table, query, limit, { start })
    yield page
    if (!page.last) return
    start = page.last
  }
}

/**
 * Returns up to `limit` items of a query, and fewer only at the end of the query. Reads no more items than it returns.
 */
export const queryItems = async <Item extends object>(
  table: Table<Item>,
  query: Query,
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> => {
  const found: Item[] = []
  for await (const { items } of queryPages(table, query, () => limit - found.length)) {
    for (const item of items) found.push(item)
  }
  return found
}

export const queryFirst = async <Item extends object>(
  table: Table<Item>,
  query: Query,
  signal?: AbortSignal,
): Promise<Item | undefined> => {
  const { items } = await queryPage(table, query, 1, { signal })
  return items[0]
}

export async function* scan<Item extends object>(
  { client, name }: Table<Item>,
  ConsistentRead = false,
): AsyncGenerator<Item, void> {
  const pages = paginateScan({ client }, { TableName: name, ConsistentRead })
  for await (const { Items = [] } of pages) yield* Items as Item[]
}

export const mapped = <Item, Value>(item: Item | undefined, toValue: (item: Item) => Value): Value | undefined =>
  item === undefined ? undefined : toValue(item)

export const inSeconds = (moment: number): number => Math.ceil(moment / 1000)
