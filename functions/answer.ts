import type * as z from 'zod/mini'

type Immutable<Value> = Value extends readonly (infer Entry)[]
  ? readonly Immutable<Entry>[]
  : Value extends object
    ? { readonly [Member in keyof Value]: Immutable<Value[Member]> }
    : Value

/**
 * What an operation answers, as the document's schema has it: what is written and what is said of it cannot drift apart.
 * A type alone: no function that answers requests loads the schema.
 */
export type Answer<Schema extends z.core.$ZodType> = Immutable<z.output<Schema>>
