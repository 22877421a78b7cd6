import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Count } from '../../categories/contents.ts'
import { onDemand } from '../../core/cached-lookup.ts'
import type { Database } from './database.ts'

export type Flag = 0 | 1

/** The row of a value. Its columns in `Columns` have other types than the members of the value. */
export type RowOf<Value, Columns> = Omit<Value, keyof Columns> & Readonly<Columns>

type Values = readonly SQLInputValue[]
type Prepare<Call> = (connection: DatabaseSync) => Call

/**
 * A statement for `prepareAll`. SQLite compiles it at its first use, because a process uses few of all statements. The
 * tables are STRICT, so the values have the types of their columns. `Row` repeats these types.
 */
const statement =
  <Result>(sql: string, call: (prepared: StatementSync, values: Values) => Result) =>
  (connection: DatabaseSync) => {
    const open = onDemand(() => connection.prepare(sql))
    return (...values: Values): Result => call(open(), values)
  }

export const one = <Row extends object, Value = Row>(
  sql: string,
  toValue = (row: Row) => row as unknown as Value,
): Prepare<(...values: Values) => Value | undefined> =>
  statement(sql, (prepared, values) => {
    const row = prepared.get(...values)
    return row && toValue(row as Row)
  })

export const all = <Row extends object, Value = Row>(
  sql: string,
  toValue = (row: Row) => row as unknown as Value,
): Prepare<(...values: Values) => readonly Value[]> =>
  statement(sql, (prepared, values) => prepared.all(...values).map((row) => toValue(row as Row)))

/** Reading arrays of columns takes half the time of reading objects. */
export const allArrays = <Row extends readonly unknown[], Value>(sql: string, toValue: (row: Row) => Value) =>
  statement(sql, (prepared, values) => {
    prepared.setReturnArrays(true)
    return prepared.all(...values).map((row) => toValue(row as unknown as Row))
  })

export const each = <Row extends object>(connection: DatabaseSync, sql: string) =>
  connection.prepare(sql).iterate() as Iterable<object> as Iterable<Row>

export const exists = (sql: string) => statement(sql, (prepared, values) => prepared.get(...values) !== undefined)

/** Returns the number of changed rows. */
export const run = (sql: string) => statement(sql, (prepared, values) => Number(prepared.run(...values).changes))

type Prepared<Sqls> = {
  readonly [Name in keyof Sqls]: Sqls[Name] extends Prepare<infer Call> ? Call : ReturnType<ReturnType<typeof run>>
}

export const prepareAll = <Sqls extends Readonly<Record<string, string | Prepare<unknown>>>>(
  connection: DatabaseSync,
  sqls: Sqls,
) =>
  Object.fromEntries(
    Object.entries(sqls).map(([name, sql]) => [name, (typeof sql === 'string' ? run(sql) : sql)(connection)]),
  ) as Prepared<Sqls>

/** `Row` has optional members in place of columns that may be NULL. */
export const withoutNulls = <Row extends object>(row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Row

/** The row of a query for the highest or lowest id. The id is null when there are no rows. */
export interface AnyId {
  readonly id: number | null
}

// The number of rows in one read, during which the rest of the process waits.
const pageSize = 1_000
const countPageSize = 20_000

interface Pages<Value, Key> {
  /** The first parameters of the query. */
  readonly of?: readonly SQLInputValue[]
  readonly after: Key
  readonly limit?: number | undefined
  readonly keyOf: (value: Value) => Key
}

/**
 * Reads up to `limit` values after `after` in the order of a key, page by page. The last two parameters of the query are
 * the key and a limit.
 */
export const readPages = async <Value, Key extends SQLInputValue>(
  read: Database['read'],
  query: (...values: Values) => readonly Value[],
  { of = [], after, limit = Number.POSITIVE_INFINITY, keyOf }: Pages<Value, Key>,
): Promise<readonly Value[]> => {
  const values: Value[] = []
  for (let last = after; values.length < limit; ) {
    const [from, wanted] = [last, Math.min(pageSize, limit - values.length)]
    const page = await read(() => query(...of, from, wanted), wanted)
    for (const value of page) values.push(value)
    const end = page.at(-1)
    if (end === undefined || page.length < wanted || values.length === limit) break
    last = keyOf(end)
  }
  return values
}

export interface CountedRows {
  readonly count: number
  readonly last: number | null
}

export const countPages = async (
  read: Database['read'],
  after: number,
  limit: number,
  query: (after: number, limit: number) => CountedRows | undefined,
): Promise<Count> => {
  let count = 0
  for (let last = after; ; ) {
    const [from, wanted] = [last, Math.min(countPageSize, limit - count)]
    const page = await read(() => query(from, wanted), pageSize)
    const counted = page?.count ?? 0
    count += counted
    last = page?.last ?? last
    if (counted < wanted || count >= limit) return { count, last, ended: counted < wanted }
  }
}
