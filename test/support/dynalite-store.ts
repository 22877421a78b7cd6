import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import { Stream } from 'node:stream'
import dynalite from 'dynalite'

// dynalite keeps its items in LevelDB, which takes most of the time of a call. This store has the same methods.

const load = createRequire(createRequire(import.meta.url).resolve('dynalite'))

type Callback<Value = undefined> = (error: Error | null, value?: Value) => void

interface Range {
  readonly gt?: string
  readonly gte?: string
  readonly lt?: string
  readonly lte?: string
  readonly reverse?: boolean
  readonly limit?: number
}

interface StoredTable {
  TableStatus: string
}

const notFound = (): Error => Object.assign(new Error('NotFoundError'), { name: 'NotFoundError' })

const createKeys = () => {
  const keys: string[] = []
  /** The index of the first key that is not smaller. */
  const placeOf = (key: string): number => {
    let [from, to] = [0, keys.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      if ((keys[middle] ?? '') < key) from = middle + 1
      else to = middle
    }
    return from
  }
  const placeAfter = (key: string): number => (keys[placeOf(key)] === key ? placeOf(key) + 1 : placeOf(key))
  return {
    add: (key: string) => void keys.splice(placeOf(key), 0, key),
    delete: (key: string) => void keys.splice(placeOf(key), 1),
    within({ gt, gte = '', lt, lte, reverse, limit = -1 }: Range): readonly string[] {
      const begin = gt === undefined ? placeOf(gte) : placeAfter(gt)
      const last = lt === undefined ? keys.length : placeOf(lt)
      const end = lte === undefined ? last : placeAfter(lte)
      const count = limit < 0 ? keys.length : limit
      return reverse
        ? keys.slice(Math.max(begin, end - count), end).toReversed()
        : keys.slice(begin, Math.min(end, begin + count))
    },
  }
}

/** Items as JSON in the order of their keys. */
const createItems = () => {
  const texts = new Map<string, string>()
  const keys = createKeys()
  const put = (key: string, value: unknown) => {
    if (!texts.has(key)) keys.add(key)
    texts.set(key, JSON.stringify(value))
  }
  const del = (key: string) => {
    if (texts.delete(key)) keys.delete(key)
  }
  return {
    lock: load('lock').Lock(),
    get(key: string, answer: Callback<unknown>) {
      const text = texts.get(key)
      queueMicrotask(() => (text === undefined ? answer(notFound()) : answer(null, JSON.parse(text))))
    },
    put(key: string, value: unknown, answer: Callback) {
      put(key, value)
      queueMicrotask(() => answer(null))
    },
    del(key: string, answer: Callback) {
      del(key)
      queueMicrotask(() => answer(null))
    },
    createValueStream(range: Range): Stream {
      const stream = new Stream()
      const end = new AbortController()
      const found = keys.within(range).map((key) => texts.get(key) ?? '')
      queueMicrotask(() => {
        for (const text of found) {
          if (end.signal.aborted) break
          stream.emit('data', JSON.parse(text))
        }
        stream.emit('end')
      })
      return Object.assign(stream, { destroy: () => end.abort() })
    },
  }
}

/** Tables exist as soon as they are created. */
const createDefinitions = () => {
  const tables = new Map<string, StoredTable>()
  return {
    lock: load('lock').Lock(),
    awsAccountId: '000000000000',
    awsRegion: 'us-east-1',
    get(name: string, answer: Callback<StoredTable>) {
      const table = tables.get(name)
      queueMicrotask(() => (table ? answer(null, table) : answer(notFound())))
    },
    put(name: string, table: StoredTable, answer: Callback) {
      if (table.TableStatus === 'CREATING') table.TableStatus = 'ACTIVE'
      tables.set(name, table)
      queueMicrotask(() => answer(null))
    },
    del(name: string, answer: Callback) {
      tables.delete(name)
      queueMicrotask(() => answer(null))
    },
    createKeyStream: () => {
      const stream = new Stream()
      queueMicrotask(() => {
        for (const name of [...tables.keys()].toSorted()) stream.emit('data', name)
        stream.emit('end')
      })
      return stream
    },
  }
}

const missingTable = (name: string, isDescribed: boolean) =>
  Object.assign(notFound(), {
    statusCode: 400,
    body: {
      __type: 'com.amazonaws.dynamodb.v20120810#ResourceNotFoundException',
      message: `Requested resource not found${isDescribed ? `: Table: ${name} not found` : ''}`,
    },
  })

const createStore = () => {
  const tableDb = createDefinitions()
  const items = new Map<string, ReturnType<typeof createItems>>()
  const open = (name: string) => {
    const found = items.get(name) ?? createItems()
    items.set(name, found)
    return found
  }
  const remove = (name: string, answer: Callback) => {
    items.delete(name)
    queueMicrotask(() => answer(null))
  }
  const indexName = (type: string, table: string, index: string) => `index-${type.toLowerCase()}~${table}~${index}`
  return {
    options: { createTableMs: 0, deleteTableMs: 0, updateTableMs: 0, maxItemSize: 400 * 1024 },
    tableDb,
    db: { close: (answer: Callback) => queueMicrotask(() => answer(null)) },
    getItemDb: (table: string) => open(`item-${table}`),
    deleteItemDb: (table: string, answer: Callback) => remove(`item-${table}`, answer),
    getIndexDb: (...[type, table, index]: [string, string, string]) => open(indexName(type, table, index)),
    deleteIndexDb: (type: string, table: string, index: string, answer: Callback) =>
      remove(indexName(type, table, index), answer),
    deleteTagDb: (table: string, answer: Callback) => remove(`tag-${table}`, answer),
    /** Without `given`, tables that are being removed are missing. */
    getTable(name: string, given: boolean | Callback<StoredTable>, last?: Callback<StoredTable>) {
      const answer = typeof given === 'function' ? given : last
      tableDb.get(name, (error, table) => {
        const isMissing = error !== null || (given && table?.TableStatus === 'DELETING')
        answer?.(isMissing ? missingTable(name, !given) : null, table)
      })
    },
  }
}

interface Context {
  readonly attrNames?: Readonly<Record<string, string>>
  readonly attrVals?: Readonly<Record<string, object>>
  readonly unusedAttrNames: Record<string, true>
  readonly unusedAttrVals: Record<string, true>
  readonly isKeyCondition?: boolean
  compare(comparison: 'GT', left: unknown, right: unknown): boolean
}

type Parse = (expression: string, options: { readonly context: Context }) => unknown

interface Parsed {
  readonly result: unknown
  /** The names of the values in the result. */
  readonly names: ReadonlyMap<unknown, string>
  readonly used: { readonly names: readonly string[]; readonly values: readonly string[] }
}

const notIn = (all: object | undefined, some: object) => Object.keys(all ?? {}).filter((name) => !(name in some))

/** The result of an expression with other values. Undefined if dynalite may refuse the values. */
const withValues = ({ result, names }: Parsed, { attrVals = {}, compare }: Context): unknown => {
  let isRefused = false
  const fill = (one: unknown): unknown => {
    if (typeof one !== 'object' || one === null) return one
    const name = names.get(one)
    if (name !== undefined) return attrVals[name]
    if (Array.isArray(one)) return one.map(fill)
    const filled: Record<string, unknown> = Object.create(Object.getPrototypeOf(one))
    for (const [key, value] of Object.entries(one)) filled[key] = fill(value)
    const { type, args } = filled
    if (type === 'between' && Array.isArray(args)) isRefused ||= compare('GT', args[1], args[2])
    return filled
  }
  const filled = fill(result)
  return isRefused ? undefined : filled
}

/** Parses an expression only once for all values of the same types. Parsing takes longer than most calls. */
const rememberExpressions = (parse: Parse): Parse => {
  const known = new Map<string, Parsed>()
  return (expression, options) => {
    const { context } = options
    const { attrNames, attrVals = {}, unusedAttrNames, unusedAttrVals, isKeyCondition } = context
    const types = Object.entries(attrVals).map(([name, value]) => `${name} ${Object.keys(value)[0]}`)
    const key = JSON.stringify([expression, attrNames, types, isKeyCondition])
    const earlier = known.get(key)
    const again = earlier && withValues(earlier, context)
    if (earlier && again !== undefined) {
      for (const name of earlier.used.names) delete unusedAttrNames[name]
      for (const name of earlier.used.values) delete unusedAttrVals[name]
      return again
    }
    const free = { names: { ...unusedAttrNames }, values: { ...unusedAttrVals } }
    const result = parse(expression, options)
    const names = new Map(Object.entries(attrVals).map(([name, value]) => [value, name]))
    const used = { names: notIn(free.names, unusedAttrNames), values: notIn(free.values, unusedAttrVals) }
    if (typeof result !== 'object') return result
    const parsed = { result, names, used }
    known.set(key, parsed)
    // A copy, because dynalite changes it.
    return withValues(parsed, context)
  }
}

for (const kind of ['condition', 'update', 'projection']) {
  const parser: { parse: Parse } = load(`./db/${kind}Parser`)
  parser.parse = rememberExpressions(parser.parse)
}

type Store = ReturnType<typeof createStore>

const stores: { create(): Store } = load('./db')

/** The server of a new store. */
export const openServer = (): { readonly store: Store; readonly server: Server } => {
  const store = createStore()
  stores.create = () => store
  return { store, server: dynalite() }
}

interface Answer {
  readonly statusCode: number
  readonly body: object
}
const isRefusal = (error: unknown): error is Answer => error instanceof Error && 'statusCode' in error

type Action = (store: Store, input: unknown, answer: (error: unknown, output: object) => void) => void

const validations = load('./validations')

const loadOperation = (operation: string): Action => {
  const name = validations.toLowerFirst(operation)
  const { types, custom } = load(`./validations/${name}`)
  const act: Action = load(`./actions/${name}`)
  return (store, given, answer) => {
    const input = validations.checkTypes(given, types)
    validations.checkValidations(input, types, custom, store)
    act(store, input, answer)
  }
}

const operations = new Map<string, Action>()

const operationOf = (name: string): Action => {
  const operation = operations.get(name) ?? loadOperation(name)
  operations.set(name, operation)
  return operation
}

/** Answers a call without HTTP, which would cost more than the call. */
export const callStore = (store: Store, operation: string, input: unknown): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const refuse = (error: unknown) => {
      if (isRefusal(error)) resolve({ statusCode: error.statusCode, body: error.body })
      else reject(error)
    }
    try {
      operationOf(operation)(store, input, (error, body) =>
        error ? refuse(error) : resolve({ statusCode: 200, body }),
      )
    } catch (error) {
      refuse(error)
    }
  })
