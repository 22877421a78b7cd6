import { describe, expect, it } from 'vitest'
import type { Change, Restoration } from '../../../../lib/storage/object-store.ts'
import { entry } from '../../../support/history.ts'
import { infoOf } from '../../../support/objects.ts'
import type { Workbench } from './workbench.ts'

export const describeRestoring = (bench: Workbench): void => {
  const { fresh, put, placed, place, content, keysUnder } = bench

  const remove = async (...keys: readonly string[]) =>
    bench.store.remove(await Promise.all(keys.map((key) => infoOf(bench.store, key))), entry)
  const restorationOf = async (key: string): Promise<Restoration> => {
    const [newest] = (await bench.store.versions(key, { limit: 1 }))?.versions ?? []
    if (!newest) throw new Error(`${key} has no version`)
    return { ...newest, kind: 'restore', key }
  }

  describe('A restored object', () => {
    it('Objects are restored together or not at all', async () => {
      const prefix = fresh()
      for (const name of ['a', 'b']) await put(`${prefix}${name}`, name)
      await remove(`${prefix}a`, `${prefix}b`)
      const known = () => Promise.all(['a', 'b'].map((name) => restorationOf(`${prefix}${name}`)))
      const unknown: Change = { kind: 'restore', key: `${prefix}c`, id: 'no version of anything', size: 1 }
      expect(await place([...(await known()), unknown])).toEqual({ outcome: 'stale', key: `${prefix}c` })
      expect(await keysUnder(prefix)).toEqual([])
      await placed(await known())
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
