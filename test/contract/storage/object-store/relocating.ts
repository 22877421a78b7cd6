import { describe, expect, it } from 'vitest'
import { createDeadline } from '../../../../lib/core/deadline.ts'
import type { Change } from '../../../../lib/storage/object-store.ts'
import { entry } from '../../../support/history.ts'
import { infoOf } from '../../../support/objects.ts'
import type { Workbench } from './workbench.ts'

export const describeRelocating = (bench: Workbench): void => {
  const { fresh, placed, put, content, keysUnder } = bench

  const listed = async (prefix: string) => (await bench.store.list({ prefix, folded: false, limit: 100 })).objects
  const remove = async (key: string) => bench.store.remove([await infoOf(bench.store, key)], entry)

  describe.each(['move', 'copy'] as const)('A %s of objects', (kind) => {
    const all = async (prefix: string) =>
      (await listed(prefix)).map((from): Change => ({ kind, from, key: `${from.key}-new` }))

    it('The bytes and types stay the same, and other objects are not replaced', async ({ skip }) => {
      if (kind === 'copy') bench.requires('refusesTaken', skip)
      const prefix = fresh()
      for (const name of ['a', 'b']) await put(`${prefix}${name}`, name, 'image/png')
      const changes = await all(prefix)
      await put(`${prefix}b-new`, 'taken')
      expect(await bench.place(changes)).toEqual({ outcome: 'occupied', key: `${prefix}b-new` })
      expect(await keysUnder(prefix)).toEqual(['a', 'b', 'b-new'].map((name) => prefix + name))
      await remove(`${prefix}b-new`)
      await placed(changes)
      expect(await keysUnder(prefix)).toEqual(
        (kind === 'copy' ? ['a', 'a-new', 'b', 'b-new'] : ['a-new', 'b-new']).map((name) => prefix + name),
      )
      expect(await bench.store.find(`${prefix}a-new`)).toMatchObject({ contentType: 'image/png', size: 1 })
    })

    it('If one of the objects was replaced or removed, nothing changes', async ({ skip }) => {
      bench.requires('comparesVersions', skip)
      const prefix = fresh()
      for (const name of ['a', 'b']) await put(`${prefix}${name}`, 'old')
      const changes = await all(prefix)
      await put(`${prefix}b`, 'newer')
      expect(await bench.place(changes)).toEqual({ outcome: 'stale', key: `${prefix}b` })
      await remove(`${prefix}b`)
      expect(await bench.place(changes)).toEqual({ outcome: 'stale', key: `${prefix}b` })
      expect(await keysUnder(prefix)).toEqual([`${prefix}a`])
    })

    it('If the time ends before the last object, nothing changes', async () => {
      const prefix = fresh()
      const names = [...'abcdefghij']
      for (const name of names) await put(`${prefix}${name}`, name)
      const changes = await all(prefix)
      let asked = 0
      const deadline = createDeadline(() => (++asked > 6 ? 0 : Number.POSITIVE_INFINITY))
      expect(await bench.place(changes, { deadline })).toEqual({ outcome: 'late' })
      expect(await keysUnder(prefix)).toEqual(names.map((name) => prefix + name))
      await placed(changes)
      for (const name of names) expect(await content(`${prefix}${name}-new`)).toBe(name)
    })
  })
}
