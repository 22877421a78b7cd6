import { capitalised, recordOf } from '../core/names.ts'

// The key schemas of all tables. Tests and the deployment create the tables from these schemas.

interface Key {
  readonly name: string
  readonly type: 'S' | 'N'
}

export interface TableDefinition {
  readonly partitionKey: Key
  readonly sortKey?: Key
  readonly indexes?: Readonly<Record<string, Readonly<Record<'partitionKey' | 'sortKey', Key>>>>
  /** The directory, which is replicated to every data centre. */
  readonly global: boolean
  readonly timeToLive?: string
}

const text = (name: string) => ({ name, type: 'S' }) as const
const number = (name: string) => ({ name, type: 'N' }) as const

export const tables = {
  sites: { partitionKey: text('id'), global: true },
  tokens: {
    partitionKey: text('hash'),
    // Lists the keys of a site and their last uses. No other items have the attribute `site`.
    indexes: { keysOfSite: { partitionKey: number('site'), sortKey: text('hash') } },
    global: true,
    timeToLive: 'expires',
  },
  users: { partitionKey: text('key'), global: true },
  signIns: { partitionKey: text('key'), global: false, timeToLive: 'expires' },
  webForms: { partitionKey: number('site'), sortKey: number('form'), global: false },
  content: { partitionKey: text('kind'), sortKey: number('id'), global: false },
  categoryLinks: {
    partitionKey: text('list'),
    sortKey: number('id'),
    // The index has the same two keys in reverse: it lists the categories of an object.
    indexes: { byObject: { partitionKey: number('id'), sortKey: text('list') } },
    global: false,
  },
  pathLocks: { partitionKey: number('site'), sortKey: text('path'), global: false, timeToLive: 'expires' },
  // Each item is a block of a few history entries (lib/aws/dynamodb/journal-blocks.ts).
  journal: { partitionKey: number('site'), sortKey: number('block'), global: false, timeToLive: 'expires' },
  webhooks: { partitionKey: number('site'), sortKey: text('key'), global: false, timeToLive: 'expires' },
  uploads: { partitionKey: text('token'), global: false, timeToLive: 'expires' },
} as const satisfies Record<string, TableDefinition>

export type TableName = keyof typeof tables

export const tableNames = Object.keys(tables) as TableName[]
export const globalTables = tableNames.filter((name) => tables[name].global)
export const regionalTables = tableNames.filter((name) => !tables[name].global)

export const tableOutput = (name: TableName): string => `${capitalised(name)}Table`

export const globalTableName = (prefix: string, name: TableName): string => `${prefix}-${name}`

export const tableSettings = <Name extends TableName>(names: readonly Name[], nameOf: (table: Name) => string) =>
  recordOf(names.map((table) => [`${table}Table` as const, nameOf(table)]))
