import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createDeadline, unlimited } from '../../../lib/core/time.ts'
import { fingerprintOf } from '../../../lib/storage/content.ts'
import type { Change, ListQuery, ObjectStore, PlaceConditions, Restoration } from '../../../lib/storage/object-store.ts'
import { entry } from '../../support/history.ts'
import { inPieces } from '../../support/in-pieces.ts'
import {
  bytesIn,
  bytesOf,
  contentIn,
  infoOf,
  nowhere,
  putObject,
  recorded,
  stageObject,
} from '../../support/objects.ts'

/** Features that some emulators do not support, each with the reason why its cases are skipped. */
export const abilities = {
  comparesVersions: 'this endpoint deletes and copies objects whatever their version',
  ordersVersions: 'this endpoint lists folders before objects on each page of versions',
} as const
export type Ability = keyof typeof abilities

interface OpenedStore {
  readonly store: ObjectStore
  /** The number of blobs without an object, unfinished uploads and scratch objects. */
  leftovers(): Promise<number>
  /** The features that the store lacks, because its emulator does not support them. */
  readonly lacks?: readonly Ability[]
  close(): Promise<void>
}

const kilobyte = 1024
export const megabyte = 1024 * kilobyte

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** An open store, and the calls that most cases make. */
const openWorkbench = (open: () => Promise<OpenedStore>) => {
  let opened: OpenedStore
  const base = `live/${randomBytes(6).toString('hex')}/`
  let number = 0
  beforeAll(async () => {
    opened = await open()
  })
  afterEach(async () => expect(await opened.leftovers()).toBe(0))
  afterAll(() => opened.close())

  return {
    get store() {
      return opened.store
    },
    /** A new prefix for each case. */
    fresh: () => `${base}${number++}/`,
    put: (key: string, content: string | Buffer) => putObject(opened.store, key, content),
    async remove(...keys: readonly string[]) {
      const objects = await Promise.all(keys.map((key) => infoOf(opened.store, key)))
      await opened.store.remove(objects, { entry })
    },
    /** Places changes under exactly these conditions. */
    place: (changes: readonly Change[], conditions: Partial<PlaceConditions> = {}) =>
      recorded(opened.store.place(changes, { ...nowhere, ...conditions }, entry)),
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
type Workbench = ReturnType<typeof openWorkbench>

/** Writes, and what a failed write leaves behind. `most` is the size of a large content. */
const describeWriting = (bench: Workbench, isLarge: boolean, most: number): void => {
  const { fresh, put, place, keysUnder, requires } = bench

  const large = isLarge ? [8 * megabyte, 17 * megabyte] : []
  it.each([0, 1, 64 * kilobyte, ...large])('Bytes are stored, with their fingerprint: %i (S-83)', async (size) => {
    const key = `${fresh()}bytes`
    const bytes = randomBytes(size)
    await put(key, bytes)
    const info = await infoOf(bench.store, key)
    expect(info.size).toBe(size)
    expect((await bytesIn(bench.store, key))?.equals(bytes)).toBe(true)
    expect(await bench.store.fingerprintOf(info, unlimited)).toBe(fingerprintOf(bytes))
    expect((await infoOf(bench.store, key)).fingerprint).toBe(fingerprintOf(bytes))
  })

  it('A read returns the chosen bytes, and not the bytes that the caller expected', async () => {
    const key = `${fresh()}digits`
    await put(key, '0123456789')
    const object = await bench.store.read(key, () => ({ first: 4, last: 6 }), 'bytes=2-8')
    expect(object && (await bytesOf(object)).toString()).toBe('456')
  })

  it.runIf(isLarge)('A fingerprint that is computed late is never given to newer bytes (S-84)', async () => {
    const key = `${fresh()}a`
    await put(key, randomBytes(most))
    const making = bench.store.fingerprintOf(await infoOf(bench.store, key), unlimited)
    await put(key, 'new')
    await making
    expect((await infoOf(bench.store, key)).fingerprint).toBe(fingerprintOf(Buffer.from('new')))
  })

  it.each([10, most])('Discarded bytes and bodies that break off leave nothing behind: %i bytes', async (size) => {
    const key = `${fresh()}a`
    const staged = await stageObject(bench.store, key, randomBytes(size))
    const body = inPieces(randomBytes(size), 64 * kilobyte, new Error('The connection broke'))
    await expect(bench.store.stage(body, { key, contentType: 'a/b' })).rejects.toThrow('The connection broke')
    expect(await bench.store.find(key)).toBeUndefined()
    for (let time = 0; time < 2; time++) await staged.discard()
  })

  it('An object stays whole when many callers write it at once (S-33)', async () => {
    const key = `${fresh()}a`
    const bodies = Array.from({ length: 8 }, (_, index) => String(index).repeat(200 * kilobyte))
    await Promise.all(bodies.map((body) => put(key, body)))
    expect(bodies).toContain(await contentIn(bench.store, key))
  })

  it('A removal accepts names that XML cannot contain', async ({ skip }) => {
    requires('comparesVersions', skip)
    const prefix = fresh()
    const names = ['\u0001', '\ufffe', '\uffff', 'gone\uffff', 'plain']
    for (const name of names) await put(`${prefix}${name}`, 'old')
    const { objects } = await bench.store.list({ prefix, folded: false, limit: 10 })
    await put(`${prefix}\ufffe`, 'newer')
    const gone = objects.filter(({ key }) => key.includes('gone'))
    await bench.store.remove(gone, { entry })
    const spared = new Set([`${prefix}\ufffe`, ...gone.map(({ key }) => key)])
    expect(await bench.store.remove(objects, { entry })).toEqual({ bytes: 3 * 'old'.length, spared })
    expect(await keysUnder(prefix)).toEqual([`${prefix}\ufffe`])
  })

  it.each([
    ['a few bytes', 'mine', true],
    ['many bytes', Buffer.alloc(most, 'x'), true],
    ['many bytes whose key was not known', Buffer.alloc(most, 'x'), false],
  ])('If a caller saw no file, only a free key is filled: %s (S-64)', async (_, content, isKnown) => {
    const key = `${fresh()}a`
    const conditions = { matching: [{ key, version: undefined }] }
    const stage = () =>
      bench.store.stage(inPieces(Buffer.from(content), 64 * kilobyte), {
        key: isKnown ? key : undefined,
        contentType: '',
      })
    expect(await place([{ kind: 'put', key, staged: await stage() }], conditions)).toEqual({ outcome: 'placed' })
    const { version } = await infoOf(bench.store, key)
    const staged = await stage()
    expect(await place([{ kind: 'put', key, staged }], conditions)).toEqual({ outcome: 'changed', key })
    await staged.discard()
    expect((await infoOf(bench.store, key)).version).toBe(version)
  })

  it('A file cannot take the name of a folder that has no marker (S-43)', async () => {
    const prefix = fresh()
    const key = `${prefix}name`
    await put(`${key}/below`, 'x')
    const staged = await stageObject(bench.store, key, 'file')
    for (const locks of [{}, { seen: new Set<string>() }]) {
      const conditions = { absent: [`${key}/`], unlocked: { ...nowhere.unlocked, ...locks } }
      expect(await place([{ kind: 'put', key, staged }], conditions)).toEqual({ outcome: 'occupied', key: `${key}/` })
      expect(await keysUnder(prefix)).toEqual([`${key}/below`])
    }
    await staged.discard()
  })
}

/** Moves, copies and restored versions. */
const describeCopying = (bench: Workbench): void => {
  const { fresh, place, put, remove, keysUnder } = bench
  const contentsOf = (...keys: readonly string[]) => Promise.all(keys.map((key) => contentIn(bench.store, key)))
  const restorationOf = async (key: string): Promise<Restoration> => {
    const [newest] = (await bench.store.versions(key, { limit: 1 }))?.versions ?? []
    return { kind: 'restore', key, ...(newest ?? expect.fail(`${key} has no version`)) }
  }

  it.each(['move', 'copy'] as const)('If the time ends before the last %s, nothing changes', async (kind) => {
    const prefix = fresh()
    const names = [...'abcdefghij']
    for (const name of names) await put(`${prefix}${name}`, name)
    const { objects } = await bench.store.list({ prefix, folded: false, limit: 100 })
    const changes = objects.map((from): Change => ({ kind, from, key: `${from.key}-new` }))
    let asked = 0
    const deadline = createDeadline(() => (++asked > 6 ? 0 : Number.POSITIVE_INFINITY))
    expect(await place(changes, { deadline })).toEqual({ outcome: 'late' })
    expect(await keysUnder(prefix)).toEqual(names.map((name) => prefix + name))
    expect(await place(changes)).toEqual({ outcome: 'placed' })
    expect(await contentsOf(...names.map((name) => `${prefix}${name}-new`))).toEqual(names)
  })

  it('Objects are restored together or not at all', async () => {
    const prefix = fresh()
    const keys = [`${prefix}a`, `${prefix}b`]
    for (const key of keys) await put(key, key)
    await remove(...keys)
    const changes = await Promise.all(keys.map(restorationOf))
    const unknown: Change = { kind: 'restore', key: `${prefix}c`, id: 'no version of anything', size: 1 }
    expect(await place([...changes, unknown])).toEqual({ outcome: 'stale', key: `${prefix}c` })
    expect(await keysUnder(prefix)).toEqual([])
    expect(await place(await Promise.all(keys.map(restorationOf)))).toEqual({ outcome: 'placed' })
    expect(await contentsOf(...keys)).toEqual(keys)
  })

  it('The current version can be restored as a new version of the same bytes', async () => {
    const key = `${fresh()}a`
    await put(key, 'text')
    const current = await restorationOf(key)
    expect(await place([current])).toEqual({ outcome: 'placed' })
    const { versions = [] } = (await bench.store.versions(key, { limit: 3 })) ?? {}
    expect(versions.map(({ isCurrent }) => isCurrent)).toEqual([true, false])
    expect(versions[0]?.id).not.toBe(current.id)
    expect(await contentsOf(key)).toEqual(['text'])
  })

  it('The version of an expected state is not restored over another state', async () => {
    const key = `${fresh()}a`
    await put(key, 'old')
    const [restoration, { version }] = await Promise.all([restorationOf(key), infoOf(bench.store, key)])
    await put(key, 'newer')
    expect(await place([restoration], { matching: [{ key, version }] })).toEqual({ outcome: 'changed', key })
    expect(await contentsOf(key)).toEqual(['newer'])
  })
}

/** The keys below a prefix, in order. */
const describeListing = (bench: Workbench): void => {
  const { fresh, place, put, remove, keysUnder } = bench

  it('A listing is sorted by bytes, in pages, with or without subfolders', async () => {
    const prefix = fresh()
    const names = [
      ...['a', 'a-b', 'a/1', 'a/2', 'a/b/3', 'a0', 'a b', 'Z', 'z', 'é', '\uffee', '😀', 'folder/', 'm/n/o'],
      ...['m/\u{10ffff}x', '&<>"\'%#+?'],
    ]
    await Promise.all(names.map((name) => (name.endsWith('/') ? undefined : put(`${prefix}${name}`, name))))
    await place([{ kind: 'folder', key: `${prefix}folder/` }])
    const all = names.map((name) => `${prefix}${name}`).sort(byBytes)
    const top = [...new Set(names.map((name) => prefix + name.replace(/\/.*/, '/')))].sort(byBytes)
    for (const limit of [1, 2, 3, 1000]) {
      expect(await keysUnder(prefix, { limit })).toEqual(all)
      expect(await keysUnder(prefix, { limit, folded: true })).toEqual(top)
    }
    expect(await keysUnder(`${prefix}a/`, { folded: true })).toEqual([`${prefix}a/1`, `${prefix}a/2`, `${prefix}a/b/`])
    expect(await keysUnder(`${prefix}folder/`, { folded: true })).toEqual([`${prefix}folder/`])
    // A list has only keys of its prefix, even if it continues after a key outside.
    for (const folded of [false, true]) {
      const { objects } = await bench.store.list({ prefix: `${prefix}a/b/`, folded, after: `${prefix}Z`, limit: 10 })
      expect(objects.map(({ key }) => key)).toEqual([`${prefix}a/b/3`])
    }
  })

  it('A list of removed entries is complete and in order, however long its pages are', async ({ skip }) => {
    bench.requires('ordersVersions', skip)
    const prefix = fresh()
    await place([{ kind: 'folder', key: prefix }])
    for (const name of ['a', 'b', 'c/1', 'c/2', 'd', 'e', 'f/1', 'g', 'h/1', 'i', '\uffee', '😀']) {
      for (const content of ['x', 'yy']) await put(prefix + name, content)
      if (!'beh'.includes(name.slice(0, 1))) await remove(prefix + name)
    }
    await remove(prefix)
    for (let limit = 1; limit <= 7; limit++) {
      const found: string[] = []
      for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
        const page = await bench.store.listRemoved({ prefix, limit, after })
        expect(page.entries.length).toBeLessThanOrEqual(limit)
        found.push(...page.entries.map(({ key }) => key.slice(prefix.length)))
        after = page.next
      }
      expect(found).toEqual(['a', 'c/', 'd', 'f/', 'g', 'i', '\uffee', '😀'])
    }
  })
}

/** The cases of every object store. A store that is not large gets no content of many MiB. */
export const describeObjectStore = (name: string, open: () => Promise<OpenedStore>, isLarge = true): void => {
  describe(name, () => {
    const bench = openWorkbench(open)
    describeWriting(bench, isLarge, isLarge ? 8 * megabyte + 1 : 40 * kilobyte)
    describeCopying(bench)
    describeListing(bench)
  })
}

/** The cases of moves, copies and restored versions, because a store may copy in another way than it writes. */
export const describeCopies = (name: string, open: () => Promise<OpenedStore>): void => {
  describe(name, () => describeCopying(openWorkbench(open)))
}
