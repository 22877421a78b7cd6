import { expect, it } from 'vitest'
import type { Change, Expected, PlaceConditions } from '../../../../lib/storage/object-store.ts'
import { type StoragePath, toStoragePath } from '../../../../lib/storage/path.ts'
import { entry } from '../../../support/history.ts'
import { kilobyte, megabyte, site, type Workbench } from './workbench.ts'

/** Changes that expect versions, free names or unlocked folders. */
export const describeConditions = (bench: Workbench, isLarge: boolean): void => {
  const { fresh, stage, put, content, keysUnder } = bench

  const seen = async (key: string): Promise<Expected> => ({ key, version: (await bench.store.find(key))?.version })
  const putOf = async (key: string, text: string | Buffer, staged = stage(key, text)): Promise<Change> => ({
    kind: 'put',
    key,
    staged: await staged,
  })
  const release = async (changes: readonly Change[]) => {
    for (const change of changes) if (change.kind === 'put') await change.staged.discard()
  }

  const large = Buffer.alloc(isLarge ? 8 * megabyte + 1 : 40 * kilobyte, 'x')
  const writes: readonly (readonly [string, (key: string) => Promise<Change>])[] = [
    ['a few bytes', (key) => putOf(key, 'mine')],
    ['many bytes', (key) => putOf(key, large)],
    ['many bytes whose key was not known', (key) => putOf(key, large, stage(undefined, large))],
    ['a removal', async (key) => ({ kind: 'remove', key })],
  ]

  it.each(writes)('Only the version that the caller saw is replaced: %s (S-64)', async (_, changeOf) => {
    const key = `${fresh()}a`
    await put(key, 'old')
    const old = await seen(key)
    await put(key, 'newer')
    const change = await changeOf(key)
    expect(await bench.place([change], { matching: [old] })).toEqual({ outcome: 'changed', key })
    expect(await content(key)).toBe('newer')
    expect(await bench.place([change], { matching: [await seen(key)] })).toEqual({ outcome: 'placed' })
    expect(await content(key)).not.toBe('newer')
  })

  it.each(writes.slice(0, 3))('If a caller saw no file, only a free key is filled: %s (S-64)', async (_, changeOf) => {
    const key = `${fresh()}a`
    const nothing = { key, version: undefined }
    const first = await changeOf(key)
    expect(await bench.place([first], { matching: [nothing] })).toEqual({ outcome: 'placed' })
    const before = await seen(key)
    const second = await changeOf(key)
    expect(await bench.place([second], { matching: [nothing] })).toEqual({ outcome: 'changed', key })
    await release([second])
    expect(await seen(key)).toEqual(before)
  })

  it('If one of several objects has changed, no change is made (S-64)', async () => {
    const prefix = fresh()
    for (const name of ['a', 'b']) await put(`${prefix}${name}`, 'old')
    const old = await Promise.all(['a', 'b'].map((name) => seen(`${prefix}${name}`)))
    await put(`${prefix}b`, 'newer')
    const key = `${prefix}b`
    for (const names of [['a', 'b'], ['a'], ['c']]) {
      const changes = [
        ...(await Promise.all(names.map((name) => putOf(`${prefix}${name}`, 'mine')))),
        { kind: 'folder', key: `${prefix}folder/` } as const,
      ]
      expect(await bench.place(changes, { matching: old })).toEqual({ outcome: 'changed', key })
      await release(changes)
    }
    expect(await keysUnder(prefix)).toEqual([`${prefix}a`, `${prefix}b`])
    expect([await content(`${prefix}a`), await content(key)]).toEqual(['old', 'newer'])
  })

  /** Folders that must not be locked. `isSeen`: their locks were read together with every other condition. */
  const unlockedAt = async (folders: readonly StoragePath[], isSeen: boolean): Promise<PlaceConditions['unlocked']> => {
    const { ids } = await bench.removals.locksOf(site, folders)
    return { site, folders, ...(isSeen && { seen: ids }) }
  }

  it('A file cannot take the name of a folder that has no marker (S-43)', async () => {
    const prefix = fresh()
    await put(`${prefix}name/below`, 'x')
    const file = await putOf(`${prefix}name`, 'file')
    for (const isSeen of [true, false]) {
      const conditions = { absent: [`${prefix}name/`], unlocked: await unlockedAt([], isSeen) }
      expect(await bench.place([file], conditions)).toEqual({ outcome: 'occupied', key: `${prefix}name/` })
      expect(await keysUnder(prefix)).toEqual([`${prefix}name/below`])
    }
    await release([file])
  })

  it('A folder that is being removed accepts no object until the removal ends (S-46)', async () => {
    const key = `${fresh()}a`
    const folder = toStoragePath('going/deep')
    const around = [toStoragePath('going'), folder]
    const unlocked = { site, folders: around }
    const change = await putOf(key, 'x')
    const before = await unlockedAt(around, true)
    const id = await bench.removals.open(site, folder, 'one', entry)
    for (const one of [unlocked, before]) {
      expect(await bench.place([change], { unlocked: one })).toEqual({ outcome: 'locked' })
      expect(await bench.store.find(key)).toBeUndefined()
    }
    const above = { site, folders: [toStoragePath('going')] }
    expect(await bench.place([], { unlocked: above })).toEqual({ outcome: 'placed' })
    await bench.removals.close(site, folder, id, 0)
    expect(await bench.place([change], { unlocked })).toEqual({ outcome: 'placed' })
    expect(await content(key)).toBe('x')
  })
}
