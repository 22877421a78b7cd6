// Key schemas of every table. Tests and deployment create the tables from here.

interface Key {
  readonly name: string
  readonly type: 'S' | 'N'
}

interface Index {
  readonly partitionKey: Key
  readonly sortKey: Key
}

export interface TableDefinition {
  readonly partitionKey: Key
  readonly sortKey?: Key
  readonly indexes?: Readonly<Record<string, Index>>
  /** Replicated to every data centre: the directory. */
  readonly global: boolean
  readonly timeToLive?: string
}

export const tables = {
  sites: { partitionKey: { name: 'id', type: 'S' }, global: true },
  tokens: {
    partitionKey: { name: 'hash', type: 'S' },
    // Only keys and their uses have a site.
    indexes: { keysOfSite: { partitionKey: { name: 'site', type: 'N' }, sortKey: { name: 'hash', type: 'S' } } },
    global: true,
    timeToLive: 'expires',
  },
  users: { partitionKey: { name: 'key', type: 'S' }, global: true },
  signIns: { partitionKey: { name: 'key', type: 'S' }, global: false, timeToLive: 'expires' },
  webForms: {
    partitionKey: { name: 'site', type: 'N' },
    sortKey: { name: 'form', type: 'N' },
    global: false,
  },
  content: {
    partitionKey: { name: 'kind', type: 'S' },
    sortKey: { name: 'id', type: 'N' },
    global: false,
  },
  categoryLinks: {
    partitionKey: { name: 'list', type: 'S' },
    sortKey: { name: 'id', type: 'N' },
    // The same two keys in reverse: the lists of an object.
    indexes: { byObject: { partitionKey: { name: 'id', type: 'N' }, sortKey: { name: 'list', type: 'S' } } },
    global: false,
  },
  pathLocks: {
    partitionKey: { name: 'site', type: 'N' },
    sortKey: { name: 'path', type: 'S' },
    global: false,
    timeToLive: 'expires',
  },
  // Blocks of a few entries each: lib/aws/dynamodb/journal-blocks.ts.
  journal: {
    partitionKey: { name: 'site', type: 'N' },
    sortKey: { name: 'block', type: 'N' },
    global: false,
    timeToLive: 'expires',
  },
  uploads: { partitionKey: { name: 'token', type: 'S' }, global: false, timeToLive: 'expires' },
} as const satisfies Record<string, TableDefinition>

export type TableName = keyof typeof tables
