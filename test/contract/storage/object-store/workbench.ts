import { randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll } from 'vitest'
import type { Change, ListQuery, ObjectStore, Placed, Staged } from '../../../../lib/storage/object-store.ts'

export interface OpenedStore {
  readonly store: ObjectStore
  /** How many staged bodies (blobs without an object, unfinished uploads, scratch objects) are lying about. */
  leftovers(): Promise<number>
  /** Whether what is behind the store looks at the version when it deletes and copies; some emulators do not. */
  readonly comparesVersions: boolean
  close(): Promise<void>
}

export const kilobyte = 1024
export const megabyte = 1024 * kilobyte

export const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

export async function* chunks(bytes: Buffer, size = 64 * kilobyte): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) {
    await turn()
    yield bytes.subarray(at, at + size)
  }
}

/** A store that is open while the cases of a file run, and what they do with it again and again. */
export interface Workbench {
  readonly store: ObjectStore
  /** A prefix of its own for each case. */
  fresh(): string
  stage(key: string | undefined, content: string | Buffer, contentType?: string): Promise<Staged>
  /** Places changes that nothing stands in the way of. */
  placed(changes: readonly Change[]): Promise<Placed>
  put(key: string, content: string | Buffer, contentType?: string): Promise<void>
  /** The bytes of an object, each as a character; undefined when there is none. */
  content(key: string): Promise<string | undefined>
  keysUnder(prefix: string, query?: Partial<ListQuery>): Promise<string[]>
  leftovers(): Promise<number>
  comparesVersions(): boolean
}

export const openWorkbench = (open: () => Promise<OpenedStore>): Workbench => {
  let opened: OpenedStore
  const base = `live/${randomBytes(6).toString('hex')}/`
  let number = 0
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened.close())

  const bench: Workbench = {
    get store() {
      return opened.store
    },
    fresh: () => `${base}${number++}/`,
    stage: (key, content, contentType = 'text/plain') =>
      opened.store.stage(chunks(Buffer.from(content)), { key, contentType }),
    async placed(changes) {
      const result = await opened.store.place(changes, [])
      if (result.outcome !== 'placed') throw new Error(`The changes are not possible: ${JSON.stringify(result)}`)
      return result
    },
    async put(key, content, contentType) {
      const staged = await bench.stage(key, content, contentType)
      await (await bench.placed([{ kind: 'put', key, staged }])).settle()
    },
    async content(key) {
      const object = await opened.store.read(key, ({ size }) => ({ first: 0, last: size - 1 }))
      return object && (object.body ? Buffer.concat(await object.body.toArray()).toString('latin1') : '')
    },
    async keysUnder(prefix, query = {}) {
      const keys: string[] = []
      let after: string | undefined
      do {
        const page = await opened.store.list({ prefix, folded: false, limit: 1000, ...query, after })
        keys.push(...[...page.objects.map(({ key }) => key), ...page.folders].sort(byBytes))
        after = page.next
      } while (after !== undefined)
      return keys
    },
    leftovers: () => opened.leftovers(),
    comparesVersions: () => opened.comparesVersions,
  }
  return bench
}
