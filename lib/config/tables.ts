/** Key schemas of every table, by the name that configuration knows it by. The tests and the deployment create them from here. */
interface Key {
  readonly name: string
  readonly type: 'S' | 'N'
}

/** A global secondary index. It holds keys only: that makes the write of an entry as cheap as can be. */
interface Index {
  readonly partitionKey: Key
  readonly sortKey: Key
}

export interface TableDefinition {
  readonly partitionKey: Key
  readonly sortKey?: Key
  readonly indexes?: Readonly<Record<string, Index>>
  /** Global tables hold the directory and are replicated to every data centre; the others belong to one. */
  readonly global: boolean
  /** The attribute with the expiry in epoch seconds, when items expire. */
  readonly timeToLive?: string
}

export const tables = {
  sites: { partitionKey: { name: 'id', type: 'S' }, global: true },
  tokens: { partitionKey: { name: 'hash', type: 'S' }, global: true, timeToLive: 'expires' },
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
    // The same two keys, turned round: the lists that hold an object.
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
