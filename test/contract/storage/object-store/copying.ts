import { expect, it } from 'vitest'
import { createDeadline } from '../../../../lib/core/time.ts'
import type { Change, Restoration } from '../../../../lib/storage/object-store.ts'
import { entry } from '../../../support/history.ts'
import { infoOf } from '../../../support/objects.ts'
import type { Workbench } from './workbench.ts'

/** Moves, copies and restored versions. */
export const describeCopying = (bench: Workbench): void => {
  const { fresh, place, placed, put, content, keysUnder } = bench

  const remove = async (...keys: readonly string[]) =>
    bench.store.remove(await Promise.all(keys.map((key) => infoOf(bench.store, key))), { entry })
  const restorationOf = async (key: string): Promise<Restoration> => {
    const [newest] = (await bench.store.versions(key, { limit: 1 }))?.versions ?? []
    if (!newest) throw new Error(`${key} has no version`)
    return { ...newest, kind: 'restore', key }
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
    await placed(changes)
    for (const name of names) expect(await content(`${prefix}${name}-new`)).toBe(name)
  })

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
}
