/** Key schemas of every table, by the name that configuration knows it by. The embedded store and the deployment create them from here. */
interface Key {
  readonly name: string
  readonly type: 'S' | 'N'
}

interface TableDefinition {
  readonly partitionKey: Key
  readonly sortKey?: Key
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
} as const satisfies Record<string, TableDefinition>

export type TableName = keyof typeof tables
