import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Count } from '../../categories/contents.ts'
import { onDemand } from '../../core/cached-lookup.ts'
import type { Database } from './database.ts'

export type Flag = 0 | 1

export type Values = readonly (SQLInputValue | boolean | object | undefined)[]
type Prepare<Call> = (connection: DatabaseSync) => Call

/** Returns the value of a row. A member that is NULL is left out. The others pass through their function, if any. */
export const fromRow =
  <Value extends object>(decoders: { readonly [Name in keyof Value]?: (stored: never) => Value[Name] } = {}) =>
  (row: object): Value => {
    const value: Record<string, unknown> = {}
    const decoderOf: Readonly<Record<string, ((stored: never) => unknown) | undefined>> = decoders
    for (const [name, stored] of Object.entries(row)) {
      if (stored !== null) value[name] = decoderOf[name]?.(stored as never) ?? stored
    }
    return value as Value
  }

// Undefined becomes NULL, a boolean becomes 0 or 1, and an object other than bytes becomes JSON.
const toStored = (value: unknown): SQLInputValue => {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) return JSON.stringify(value)
  return (value ?? null) as SQLInputValue
}

/**
 * A statement for `prepareAll`. SQLite compiles it at its first use, because a process uses few of all statements. The
 * tables are STRICT, so the values have the types of their columns. `Row` repeats these types.
 */
const statement =
  <Result>(sql: string, call: (prepared: StatementSync, values: readonly SQLInputValue[]) => Result) =>
  (connection: DatabaseSync) => {
    const open = onDemand(() => connection.prepare(sql))
    return (...values: Values): Result => call(open(), values.map(toStored))
  }

export const one = <Row extends object, Value = Row>(sql: string, toValue = (row: Row) => row as unknown as Value) =>
  statement(sql, (prepared, values) => {
    const row = prepared.get(...values)
    return row && toValue(row as Row)
  })

export const all = <Row extends object, Value = Row>(sql: string, toValue = (row: Row) => row as unknown as Value) =>
  statement(sql, (prepared, values): readonly Value[] => prepared.all(...values).map((row) => toValue(row as Row)))

/** Reading arrays of columns takes half the time of reading objects. */
export const allArrays = <Row extends readonly unknown[], Value>(sql: string, toValue: (row: Row) => Value) =>
  statement(sql, (prepared, values): readonly Value[] => {
    prepared.setReturnArrays(true)
    return prepared.all(...values).map((row) => toValue(row as unknown as Row))
  })

export const column = <Value>(sql: string) => allArrays(sql, ([first]: readonly [Value]) => first)

export const value = <Value>(sql: string) =>
  statement(sql, (prepared, values) => {
    prepared.setReturnArrays(true)
    const [first] = (prepared.get(...values) as unknown as readonly [Value] | undefined) ?? []
    return first
  })

export const each = <Row extends object>(connection: DatabaseSync, sql: string) =>
  connection.prepare(sql).iterate() as Iterable<object> as Iterable<Row>

export const exists = (sql: string) => statement(sql, (prepared, values) => prepared.get(...values) !== undefined)

export const run = (sql: string) => statement(sql, (prepared, values) => Number(prepared.run(...values).changes))

type Prepared<Sqls> = {
  readonly [Name in keyof Sqls]: Sqls[Name] extends Prepare<infer Call> ? Call : ReturnType<ReturnType<typeof run>>
}

type Statements = Readonly<Record<string, string | Prepare<unknown>>>

export const prepareAll = <Sqls extends Statements>(connection: DatabaseSync, sqls: Sqls) =>
  Object.fromEntries(
    Object.entries(sqls).map(([name, sql]) => [name, (typeof sql === 'string' ? run(sql) : sql)(connection)]),
  ) as Prepared<Sqls>

// The number of rows in one read, during which the rest of the process waits.
const pageSize = 1_000
const countPageSize = 20_000

/**
 * Reads up to `limit` values in the order of a key, page by page. The last two parameters of the query are a key and a
 * limit. `start` has the parameters before the limit. The values begin after its key.
 */
export const readPages = async <Value>(
  read: Database['read'],
  query: (...values: Values) => readonly Value[],
  start: Values,
  keyOf: (value: Value) => SQLInputValue,
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly Value[]> => {
  const values: Value[] = []
  for (let from = start; values.length < limit; ) {
    const wanted = Math.min(pageSize, limit - values.length)
    const page = await read(() => query(...from, wanted), wanted)
    values.push(...page)
    const end = page.at(-1)
    if (end === undefined || page.length < wanted) break
    from = start.with(-1, keyOf(end))
  }
  return values
}

export const idOf = ({ id }: { readonly id: number }): number => id

export interface CountedRows {
  readonly count: number
  readonly last: number | null
}

export const countPages = async (
  read: Database['read'],
  query: (...values: Values) => CountedRows | undefined,
  start: Values,
  limit: number,
): Promise<Count> => {
  let count = 0
  for (let from = start; ; ) {
    const wanted = Math.min(countPageSize, limit - count)
    const page = await read(() => query(...from, wanted), pageSize)
    const counted = page?.count ?? 0
    count += counted
    const last = page?.last ?? Number(from.at(-1))
    if (counted < wanted || count >= limit) return { count, last, ended: counted < wanted }
    from = start.with(-1, last)
  }
}
