import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import type { Change, ListQuery, ObjectStore, PlaceConditions, Staged } from '../../../../lib/storage/object-store.ts'
import { entry } from '../../../support/history.ts'
import { inPieces } from '../../../support/in-pieces.ts'
import { bytesIn, nowhere, recorded } from '../../../support/objects.ts'

/** Features that some emulators do not support, each with the reason why its cases are skipped. */
export const abilities = {
  comparesVersions: 'this endpoint deletes and copies objects whatever their version',
  ordersVersions: 'this endpoint lists folders before objects on each page of versions',
} as const
export type Ability = keyof typeof abilities

export interface OpenedStore {
  readonly store: ObjectStore
  /** The number of blobs without an object, unfinished uploads and scratch objects. */
  leftovers(): Promise<number>
  /** The features that the store lacks, because its emulator does not support them. */
  readonly lacks?: readonly Ability[]
  close(): Promise<void>
}

export const kilobyte = 1024
export const megabyte = 1024 * kilobyte

export const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** An open store, and the calls that most cases make. */
export const openWorkbench = (open: () => Promise<OpenedStore>) => {
  let opened: OpenedStore
  const base = `live/${randomBytes(6).toString('hex')}/`
  let number = 0
  beforeAll(async () => {
    opened = await open()
  })
  afterEach(async () => expect(await opened.leftovers()).toBe(0))
  afterAll(() => opened.close())

  const stage = (key: string | undefined, content: string | Buffer): Promise<Staged> =>
    opened.store.stage(inPieces(Buffer.from(content), 64 * kilobyte), { key, contentType: 'text/plain' })
  /** Places changes under exactly these conditions. */
  const place = (changes: readonly Change[], conditions: Partial<PlaceConditions> = {}) =>
    recorded(opened.store.place(changes, { ...nowhere, ...conditions }, entry))
  /** Places changes that must succeed. */
  const placed = async (changes: readonly Change[]): Promise<void> => {
    const result = await place(changes)
    if (result.outcome !== 'placed') throw new Error(`The changes are not possible: ${JSON.stringify(result)}`)
  }
  return {
    get store() {
      return opened.store
    },
    /** A new prefix for each case. */
    fresh: () => `${base}${number++}/`,
    stage,
    place,
    placed,
    put: async (key: string, content: string | Buffer) =>
      placed([{ kind: 'put', key, staged: await stage(key, content) }]),
    /** The bytes of an object as characters. Undefined if the object does not exist. */
    content: async (key: string) => (await bytesIn(opened.store, key))?.toString('latin1'),
    async keysUnder(prefix: string, query: Partial<ListQuery> = {}): Promise<string[]> {
      const keys: string[] = []
      let after: string | undefined
      do {
        const page = await opened.store.list({ prefix, folded: false, limit: 1000, ...query, after })
        keys.push(...[...page.objects.map(({ key }) => key), ...page.folders].sort(byBytes))
        after = page.next
      } while (after !== undefined)
      return keys
    },
    /** Skips a case if the store lacks this feature. */
    requires(ability: Ability, skip: (note: string) => never): void {
      if (opened.lacks?.includes(ability)) skip(`NOT PROVEN: ${abilities[ability]}`)
    },
  }
}

export type Workbench = ReturnType<typeof openWorkbench>
