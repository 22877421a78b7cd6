// Key schemas of every table. Tests and the deployment create the tables from here.

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
  /** The directory, which is replicated to every data centre. */
  readonly global: boolean
  readonly timeToLive?: string
}

export const tables = {
  sites: { partitionKey: { name: 'id', type: 'S' }, global: true },
  tokens: {
    partitionKey: { name: 'hash', type: 'S' },
    // Lists the keys of a site and their last uses. No other items have the attribute `site`.
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
    // The index has the same two keys in reverse: it lists the categories of an object.
    indexes: { byObject: { partitionKey: { name: 'id', type: 'N' }, sortKey: { name: 'list', type: 'S' } } },
    global: false,
  },
  pathLocks: {
    partitionKey: { name: 'site', type: 'N' },
    sortKey: { name: 'path', type: 'S' },
    global: false,
    timeToLive: 'expires',
  },
  // Each item is a block of a few entries: lib/aws/dynamodb/journal-blocks.ts.
  journal: {
    partitionKey: { name: 'site', type: 'N' },
    sortKey: { name: 'block', type: 'N' },
    global: false,
    timeToLive: 'expires',
  },
  // Webhooks, their last deliveries, and the deliveries that are to be repeated.
  webhooks: {
    partitionKey: { name: 'site', type: 'N' },
    sortKey: { name: 'key', type: 'S' },
    global: false,
    timeToLive: 'expires',
  },
  uploads: { partitionKey: { name: 'token', type: 'S' }, global: false, timeToLive: 'expires' },
} as const satisfies Record<string, TableDefinition>

export type TableName = keyof typeof tables
