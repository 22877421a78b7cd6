import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'
import { setImmediate as yieldTurn } from 'node:timers/promises'
import type { Count } from '../../categories/contents.ts'
import { chunksOf } from '../../core/in-parallel.ts'
import type { Database } from './database.ts'

export type Flag = 0 | 1

/**
 * A query that returns rows. The tables are STRICT, so the values have the types of their columns. `Row` repeats these
 * types.
 */
export interface Query<Row> {
  get(...values: readonly SQLInputValue[]): Row | undefined
  all(...values: readonly SQLInputValue[]): readonly Row[]
  iterate(...values: readonly SQLInputValue[]): Iterable<Row>
}

interface Statement extends Query<Readonly<Record<string, SQLOutputValue>>> {
  run(...values: readonly SQLInputValue[]): ReturnType<StatementSync['run']>
}

/** SQLite compiles the statement at its first use, because a process uses few of all statements. */
const prepareLazily = (connection: DatabaseSync, sql: string, arrays = false): Statement => {
  let prepared: StatementSync | undefined
  const prepare = (): StatementSync => {
    prepared = connection.prepare(sql)
    prepared.setReturnArrays(arrays)
    return prepared
  }
  return {
    get: (...values) => (prepared ?? prepare()).get(...values),
    all: (...values) => (prepared ?? prepare()).all(...values),
    iterate: (...values) => (prepared ?? prepare()).iterate(...values),
    run: (...values) => (prepared ?? prepare()).run(...values),
  }
}

export const prepareQuery = <Row extends object>(connection: DatabaseSync, sql: string): Query<Row> =>
  prepareLazily(connection, sql) as unknown as Query<Row>

type Values<Value> = Omit<Query<Value>, 'iterate'>
type Prepare<Value> = (connection: DatabaseSync) => Values<Value>

/** Describes a query for `prepareAll`. `toValue` converts each of its rows. */
export const query =
  <Row extends object, Value = Row>(sql: string, toValue?: (row: Row) => Value): Prepare<Value> =>
  (connection) => {
    const rows = prepareQuery<Row>(connection, sql)
    if (!toValue) return rows as unknown as Values<Value>
    return {
      get(...values) {
        const row = rows.get(...values)
        return row && toValue(row)
      },
      all: (...values) => rows.all(...values).map((row) => toValue(row)),
    }
  }

type Prepared<Sqls> = {
  readonly [Name in keyof Sqls]: Sqls[Name] extends Prepare<infer Value> ? Values<Value> : Statement
}

export const prepareAll = <Sqls extends Readonly<Record<string, string | Prepare<unknown>>>>(
  connection: DatabaseSync,
  sqls: Sqls,
) =>
  Object.fromEntries(
    Object.entries(sqls).map(([name, sql]) => [
      name,
      typeof sql === 'string' ? prepareLazily(connection, sql) : sql(connection),
    ]),
  ) as unknown as Prepared<Sqls>

/** `Row` has optional members in place of columns that may be NULL. */
export const withoutNulls = <Row extends object>(row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Row

/** The row of a query for the highest or lowest id. The id is null when there are no rows. */
export interface AnyId {
  readonly id: number | null
}

/** Rows as arrays of columns. Reading them takes half the time of reading objects. */
export const prepareArrays = <Row extends readonly unknown[]>(connection: DatabaseSync, sql: string): Query<Row> =>
  prepareLazily(connection, sql, true) as unknown as Query<Row>

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
 * Reads up to `limit` values after `after` in the order of a key, page by page. Other work runs in between. The last two
 * parameters of the query are the key and a limit.
 */
export const readPages = async <Value, Key extends SQLInputValue>(
  read: Database['read'],
  query: Pick<Query<Value>, 'all'>,
  { of = [], after, limit = Number.POSITIVE_INFINITY, keyOf }: Pages<Value, Key>,
): Promise<readonly Value[]> => {
  const values: Value[] = []
  for (let last = after; values.length < limit; await yieldTurn()) {
    const [from, wanted] = [last, Math.min(pageSize, limit - values.length)]
    const page = await read(() => query.all(...of, from, wanted))
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
  for (let last = after; ; await yieldTurn()) {
    const [from, wanted] = [last, Math.min(countPageSize, limit - count)]
    const page = await read(() => query(from, wanted))
    const counted = page?.count ?? 0
    count += counted
    last = page?.last ?? last
    if (counted < wanted || count >= limit) return { count, last, ended: counted < wanted }
  }
}

export const readBatches = async <Value, Row>(
  read: Database['read'],
  values: readonly Value[],
  query: (json: string) => readonly Row[],
): Promise<readonly Row[]> => {
  const rows: Row[] = []
  for (const [index, batch] of chunksOf(values, pageSize).entries()) {
    if (index > 0) await yieldTurn()
    for (const row of await read(() => query(JSON.stringify(batch)))) rows.push(row)
  }
  return rows
}
