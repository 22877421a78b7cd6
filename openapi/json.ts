/** A node of the document that is being written. */
export type Node = { readonly [name: string]: unknown }

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
