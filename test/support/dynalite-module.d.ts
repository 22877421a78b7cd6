declare module 'dynalite' {
  import type { Server } from 'node:http'

  interface Options {
    /** Where LevelDB keeps its files; in memory without it. */
    readonly path?: string
    readonly createTableMs?: number
    readonly deleteTableMs?: number
    readonly updateTableMs?: number
  }

  export default function dynalite(options?: Options): Server
}
