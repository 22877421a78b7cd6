declare module 'dynalite' {
  import type { Server } from 'node:http'

  export default function dynalite(options?: Readonly<Record<string, number>>): Server
}

/** The parsers of conditions, which have an `expression`, and of updates, which have `sections`. */
declare module 'dynalite/db/*' {
  interface Operation {
    readonly type: string
    readonly name?: string
    readonly args: readonly Operand[]
  }
  export type Operand = readonly [name: string, index?: number] | { readonly value: string } | Operation
  export interface Section {
    readonly type: 'set' | 'remove' | 'add' | 'delete'
    readonly path: readonly [name: string]
    readonly val?: Operand
  }
  interface Parsed {
    readonly expression: Operand
    readonly sections: readonly Section[]
  }
  const parser: { parse(expression: string, options: object): Parsed | string }
  export default parser
}
