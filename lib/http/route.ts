export type Group = 'fields' | 'categories' | 'storage' | 'documentation'

/** A row of the route table, as the core reads it. */
export interface Route {
  readonly operation: string
  readonly method: string
  /** `{name}` stands for one segment, and `{name+}` at the end for all the rest, handed on percent-encoded. */
  readonly path: string
  readonly group: Group
  /** Answered without a token, and belonging to no site. */
  readonly public?: boolean
}
