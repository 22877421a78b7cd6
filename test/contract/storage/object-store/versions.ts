import { describe, expect, it } from 'vitest'
import { unlimited } from '../../../../lib/core/deadline.ts'
import type { Change, Restoration } from '../../../../lib/storage/object-store.ts'
import { entry } from '../../../support/history.ts'
import { bytesOf } from '../../../support/objects.ts'
import type { Workbench } from './workbench.ts'

/** Earlier versions, and restored objects. */
export const describeVersions = (bench: Workbench): void => {
  const { fresh, put, placed, place, content, keysUnder, stage } = bench

  const versionsOf = async (key: string) => (await bench.store.versions(key, { limit: 100 }))?.versions ?? []
  const shapes = async (key: string) =>
    (await versionsOf(key)).map(({ size, isCurrent, isRemoved }) => [
      size,
      isCurrent ? 'current' : isRemoved ? 'removed' : 'replaced',
    ])
  const read = async (key: string, id: string) => {
    const object = await bench.store.readVersion(key, id, ({ size }) => ({ first: 0, last: size - 1 }))
    return object && (await bytesOf(object)).toString('latin1')
  }
  const remove = async (...keys: readonly string[]) => {
    const found = await Promise.all(keys.map((key) => bench.store.find(key)))
    await bench.store.remove(
      found.filter((object) => object !== undefined),
      entry,
    )
  }
  const restorationOf = async (key: string, at = 0): Promise<Restoration> => {
    const version = (await versionsOf(key))[at]
    if (!version) throw new Error(`${key} has no version ${at}`)
    return { ...version, kind: 'restore', key }
  }

  describe('The versions of an object', () => {
    it('The list has no versions of keys that begin with the same characters (H-16)', async () => {
      const prefix = fresh()
      for (const name of ['a', 'ab', 'a/b']) await put(`${prefix}${name}`, name)
      expect(await shapes(`${prefix}a`)).toEqual([[1, 'current']])
      expect(await shapes(`${prefix}none`)).toEqual([])
      const [other] = await versionsOf(`${prefix}ab`)
      expect(await read(`${prefix}a`, other?.id ?? '')).toBeUndefined()
      expect(await read(`${prefix}a`, 'no version of anything')).toBeUndefined()
    })

    it('A part of a large old version can be read (H-16)', async ({ skip }) => {
      bench.requires('cutsVersions', skip)
      const key = `${fresh()}a`
      await put(key, Buffer.alloc(40_000, 'old'))
      await put(key, 'new')
      const old = (await versionsOf(key))[1]
      const object = await bench.store.readVersion(key, old?.id ?? '', () => ({ first: 1, last: 6 }))
      expect(object && (await bytesOf(object)).toString()).toBe('ldoldo')
      expect(object?.info.size).toBe(40_000)
    })
  })

  describe('A purge', () => {
    it('Only the named versions are deleted (H-30)', async () => {
      const [one, other] = [`${fresh()}a`, `${fresh()}b`]
      for (const key of [one, other]) for (const text of ['1', '22', '333']) await put(key, text)
      await remove(other)
      const purged = [one, other].map(async (key) => ({ ...(await restorationOf(key, 1)), key }))
      expect(await bench.store.purge(await Promise.all(purged), entry, unlimited)).toBe(0)
      expect(await shapes(one)).toEqual([
        [3, 'current'],
        [1, 'replaced'],
      ])
      expect((await shapes(other)).map(([size]) => size)).toEqual([3, 1])
      expect(await content(one)).toBe('333')
      await placed([await restorationOf(other)])
      expect(await content(other)).toBe('333')
    })
  })

  describe('A restored object', () => {
    it('A restore with an unknown version changes nothing', async () => {
      const prefix = fresh()
      await put(`${prefix}a`, 'a')
      await remove(`${prefix}a`)
      const changes: Change[] = [
        { kind: 'put', key: `${prefix}b`, staged: await stage(`${prefix}b`, 'b') },
        { kind: 'restore', key: `${prefix}a`, id: 'no version of anything', size: 1 },
      ]
      expect(await place(changes)).toEqual({ outcome: 'stale', key: `${prefix}a` })
      expect(await keysUnder(prefix)).toEqual([])
      for (const change of changes) if (change.kind === 'put') await change.staged.discard()
    })

    it('Objects are restored together or not at all', async () => {
      const prefix = fresh()
      for (const name of ['a', 'b']) await put(`${prefix}${name}`, name)
      await remove(`${prefix}a`, `${prefix}b`)
      const changes: Change[] = [
        await restorationOf(`${prefix}a`),
        await restorationOf(`${prefix}b`),
        { kind: 'restore', key: `${prefix}c`, id: 'no version of anything', size: 1 },
      ]
      expect(await place(changes)).toEqual({ outcome: 'stale', key: `${prefix}c` })
      expect(await keysUnder(prefix)).toEqual([])
      await placed([await restorationOf(`${prefix}a`), await restorationOf(`${prefix}b`)])
      expect([await content(`${prefix}a`), await content(`${prefix}b`)]).toEqual(['a', 'b'])
    })

    it('A restore never restores a newer state than the one that it names', async () => {
      const prefix = fresh()
      for (const name of ['a', 'b']) await put(`${prefix}${name}`, name)
      await remove(`${prefix}a`, `${prefix}b`)
      const changes = [await restorationOf(`${prefix}a`), await restorationOf(`${prefix}b`)]
      await put(`${prefix}b`, 'another')
      await remove(`${prefix}b`)
      const result = await place(changes)
      // On one machine the removal also keeps the older state, which is then restored.
      if (result.outcome === 'placed') expect(await content(`${prefix}b`)).toBe('b')
      else {
        expect(result).toEqual({ outcome: 'stale', key: `${prefix}b` })
        expect(await keysUnder(prefix)).toEqual([])
      }
    })
  })
}
