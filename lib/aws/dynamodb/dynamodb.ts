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
import { onDemand } from '../../core/cached-lookup.ts'
import { definedMembers, recordOf } from '../../core/names.ts'
import { failLikePort, smallCallTimeouts } from '../calls/client-calls.ts'

export interface TableOptions {
  readonly dynamodb?: DynamoDBDocumentClient | undefined
  readonly table: string
  // In milliseconds: after this time without progress, a batch fails.
  readonly longestStall?: number | undefined
  readonly now?: (() => number) | undefined
}

export const createDocumentClient = (config: DynamoDBClientConfig = {}): DynamoDBDocumentClient => {
  const client = failLikePort(new DynamoDBClient({ maxAttempts: 3, requestHandler: smallCallTimeouts, ...config }))
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } })
}

const clientOfProcess = onDemand(createDocumentClient)

export const isConditionFailure = (error: unknown): error is ConditionalCheckFailedException =>
  error instanceof ConditionalCheckFailedException

export type Attributes = Readonly<Record<string, unknown>>
export type Key = Readonly<Record<string, string | number>>

/**
 * A condition or a computed value. The name of a column follows a `#`. A value may be an expression, too. Several
 * conditions must all be true.
 */
export type Expression = (write: (value: unknown) => string) => string
export type Conditions = Expression | readonly (Expression | undefined)[]

export const expression =
  (text: readonly string[], ...values: readonly unknown[]): Expression =>
  (write) =>
    String.raw({ raw: text }, ...values.map(write))

interface Write {
  readonly condition?: Conditions
  readonly signal?: AbortSignal
}

/**
 * One update of an item, which creates a missing item. A value to `set` may be an expression; an undefined value removes
 * the column. `add` adds to numbers and sets, and `drop` takes values out of sets. `returns` selects the result; by
 * default there is none.
 */
export interface ItemChange extends Write {
  readonly set?: Attributes
  readonly add?: Attributes
  readonly drop?: Attributes
  readonly returns?: 'ALL_NEW' | 'UPDATED_OLD' | 'UPDATED_NEW' | undefined
}

/** `where` is the condition on the keys. `columns` names the attributes to read; by default all are read. */
export interface Query {
  readonly where: Conditions
  readonly index?: string | undefined
  readonly filter?: Expression | undefined
  readonly columns?: readonly string[]
  readonly newestFirst?: boolean
  readonly consistent?: boolean
  readonly countOnly?: boolean
  readonly signal?: AbortSignal
}

export const projectionOf = (columns: readonly string[] | undefined): Expression | undefined =>
  columns && (() => columns.map((column) => `#${column}`).join(', '))

export const written = <Member extends string>(members: Readonly<Record<Member, Conditions | undefined>>) => {
  const values: unknown[] = []
  const write = (value: unknown): string => (typeof value === 'function' ? value(write) : `:v${values.push(value) - 1}`)
  const texts = Object.entries<Conditions | undefined>(members).map(([member, conditions]) => {
    const parts = [conditions].flat().filter((one) => one !== undefined)
    return [member as Member, parts.map(write).join(' AND ') || undefined] as const
  })
  const names = texts.join(' ').match(/#\w+/g) ?? []
  return {
    ...recordOf(texts),
    ...(names.length > 0 && { ExpressionAttributeNames: recordOf(names.map((name) => [name, name.slice(1)])) }),
    ...(values.length > 0 && { ExpressionAttributeValues: recordOf(values.map((value, at) => [`:v${at}`, value])) }),
  }
}

const clausesOf =
  ({ set = {}, add = {}, drop = {} }: ItemChange): Expression =>
  (write) => {
    const removed = Object.keys(set).filter((column) => set[column] === undefined)
    const given = (columns: Attributes, sign = '') =>
      Object.entries(columns).map(([column, value]) => `#${column} ${sign}${write(value)}`)
    const clauses = {
      SET: given(definedMembers(set), '= '),
      REMOVE: removed.map((column) => `#${column}`),
      ADD: given(add),
      DELETE: given(drop),
    }
    const some = Object.entries(clauses).filter(([, changes]) => changes.length > 0)
    return some.map(([name, changes]) => `${name} ${changes.join(', ')}`).join(' ')
  }

export const updateCommand = (TableName: string, Key: Key, change: ItemChange): UpdateCommand => {
  const expressions = { UpdateExpression: clausesOf(change), ConditionExpression: change.condition }
  return new UpdateCommand({ TableName, Key, ReturnValues: change.returns, ...written(expressions) })
}

const endingAt = (signal: AbortSignal | undefined) => signal && { abortSignal: signal }

const ifConditionHolds = <Output>(call: Promise<Output>): Promise<Output | undefined> =>
  call.catch((error: unknown) => {
    if (isConditionFailure(error)) return undefined
    throw error
  })

/** Only this service writes to these tables, so all items have the declared type. */
export type Table<Item extends object = Attributes> = ReturnType<typeof openTable<Item>>

/**
 * The calls on one table. If the condition of a write is false, the call returns false or undefined. Errors:
 * unavailable.
 */
export const openTable = <Item extends object = Attributes>(options: TableOptions) => {
  const { dynamodb = clientOfProcess(), table: TableName, longestStall } = options
  return {
    client: dynamodb,
    name: TableName,
    longestStall,

    async get(key: Key, ConsistentRead = true): Promise<Item | undefined> {
      return (await dynamodb.send(new GetCommand({ TableName, Key: key, ConsistentRead }))).Item as Item | undefined
    },

    async put(item: Item, write: Write = {}): Promise<boolean> {
      const command = new PutCommand({ TableName, Item: item, ...written({ ConditionExpression: write.condition }) })
      return (await ifConditionHolds(dynamodb.send(command, endingAt(write.signal)))) !== undefined
    },

    async update<Returns extends ItemChange['returns'] = undefined>(
      key: Key,
      change: ItemChange & { readonly returns?: Returns },
    ) {
      const command = updateCommand(TableName, key, change)
      const done = await ifConditionHolds(dynamodb.send(command, endingAt(change.signal)))
      return done && ((done.Attributes ?? {}) as Returns extends 'ALL_NEW' ? Item : Partial<Item>)
    },

    async take(key: Key): Promise<Item | undefined> {
      const command = new DeleteCommand({ TableName, Key: key, ReturnValues: 'ALL_OLD' })
      return (await dynamodb.send(command)).Attributes as Item | undefined
    },

    /**
     * Returns false if there was no item, if the condition is false, or if another call removed the item meanwhile. A
     * repeated call cannot tell whether it removed the item, so the item is read first. Callers with a condition have
     * just read it. `isNew` recognises an item that was put after the removal.
     */
    async remove(key: Key, write: Write = {}, isNew = (_: Item) => false): Promise<boolean> {
      if (write.condition === undefined && !(await this.get(key))) return false
      const condition = written({ ConditionExpression: write.condition })
      const command = new DeleteCommand({ TableName, Key: key, ReturnValues: 'ALL_OLD', ...condition })
      try {
        const { Attributes, $metadata } = await dynamodb.send(command)
        return Attributes !== undefined || $metadata.attempts !== 1
      } catch (error) {
        if (!isConditionFailure(error)) throw error
        return error.$metadata.attempts !== 1 && (mapped(await this.get(key), isNew) ?? true)
      }
    },
  }
}

// DynamoDB itself bounds the size of a page, so this only has to be a valid number.
const mostPerCall = 1_000_000

/**
 * Yields the pages of a query. Before each page, `missing` returns how many items are still wanted. The pages end when
 * it returns 0.
 */
export async function* queryPages<Item extends object>(
  { client, name }: Table<Item>,
  { where, index, filter, columns, newestFirst, consistent, countOnly, signal }: Query,
  missing: () => number = () => Number.POSITIVE_INFINITY,
) {
  const query = {
    TableName: name,
    IndexName: index,
    ...written({
      KeyConditionExpression: where,
      FilterExpression: filter,
      ProjectionExpression: projectionOf(columns),
    }),
    ScanIndexForward: newestFirst ? false : undefined,
    ConsistentRead: consistent,
    Select: countOnly ? ('COUNT' as const) : undefined,
  }
  let start: Attributes | undefined
  for (let limit = missing(); limit > 0; limit = missing()) {
    const command = new QueryCommand({ ...query, Limit: Math.min(limit, mostPerCall), ExclusiveStartKey: start })
    const { Items = [], Count: count = 0, LastEvaluatedKey } = await client.send(command, endingAt(signal))
    start = LastEvaluatedKey
    yield { items: Items as Item[], count, last: start }
    if (!start) return
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
  for await (const { items } of queryPages(table, query, () => limit - found.length)) found.push(...items)
  return found
}

export const scan = async <Item extends object, Value>(
  { client, name }: Table<Item>,
  toValue: (item: Item) => Value | undefined,
  ConsistentRead = false,
): Promise<Value[]> => {
  const found: Value[] = []
  for await (const { Items = [] } of paginateScan({ client }, { TableName: name, ConsistentRead }))
    found.push(...(Items as Item[]).map(toValue).filter((value) => value !== undefined))
  return found
}

export const mapped = <Item, Value>(item: Item | undefined, toValue: (item: Item) => Value): Value | undefined =>
  item === undefined ? undefined : toValue(item)

export const inSeconds = (moment: number): number => Math.ceil(moment / 1000)
