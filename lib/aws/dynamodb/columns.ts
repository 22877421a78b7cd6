type Check<Value> = (value: unknown) => value is Value

export const text: Check<string> = (value) => typeof value === 'string'
export const number: Check<number> = (value) => typeof value === 'number'
export const flag: Check<boolean> = (value) => typeof value === 'boolean'
export const bytes: Check<Uint8Array> = (value) => value instanceof Uint8Array

export const optional =
  <Value>(check: Check<Value>): Check<Value | undefined> =>
  (value): value is Value | undefined =>
    value === undefined || check(value)

export const nullable =
  <Value>(check: Check<Value>): Check<Value | null> =>
  (value): value is Value | null =>
    value === null || check(value)

/** Every member of a stored object, with the check of its type. */
export type Columns<Row> = { readonly [Name in keyof Row]-?: Check<Row[Name] | undefined> }

const damagedColumn = <Row>(item: object, columns: Columns<Row>): string | undefined => {
  const values = new Map<string, unknown>(Object.entries(item))
  return Object.entries<Check<unknown>>(columns).find(([name, check]) => !check(values.get(name)))?.[0]
}

/** An object within an item. */
export const nested =
  <Row>(columns: Columns<Row>): Check<Row> =>
  (value): value is Row =>
    typeof value === 'object' && value !== null && damagedColumn(value, columns) === undefined

/** The declared columns of an item. Throws an Error that names one that is missing or of another type. */
export const readColumns = <Row>(what: string, item: object, columns: Columns<Row>): Row => {
  const damaged = damagedColumn(item, columns)
  if (damaged !== undefined) throw new Error(`${what} has no ${damaged}`)
  return Object.fromEntries(Object.entries(item).filter(([name]) => Object.hasOwn(columns, name))) as Row
}
