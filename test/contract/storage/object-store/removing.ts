import { expect, it } from 'vitest'
import { entry } from '../../../support/history.ts'
import type { Workbench } from './workbench.ts'

export const describeRemoving = (bench: Workbench): void => {
  const { fresh, put, keysUnder, leftovers, requires } = bench

  it('A removal removes the listed versions, and nothing newer', async ({ skip }) => {
    requires('comparesVersions', skip)
    const prefix = fresh()
    await put(`${prefix}a`, 'a')
    await put(`${prefix}b`, 'old')
    await put(`${prefix}c`, 'c')
    const { objects } = await bench.store.list({ prefix, folded: false, limit: 10 })
    await put(`${prefix}b`, 'newer')
    await bench.store.remove(
      objects.filter(({ key }) => !key.endsWith('c')),
      entry,
    )
    await bench.store.remove(
      objects.filter(({ key }) => key.endsWith('a')),
      entry,
    )
    expect(await keysUnder(prefix)).toEqual([`${prefix}b`, `${prefix}c`])
    expect(await leftovers()).toBe(0)
  })

  it('A removal accepts names that XML cannot contain', async ({ skip }) => {
    requires('comparesVersions', skip)
    const prefix = fresh()
    const names = ['\ufffe', '\uffff', 'gone\uffff', 'plain']
    for (const name of names) await put(`${prefix}${name}`, 'old')
    const { objects } = await bench.store.list({ prefix, folded: false, limit: 10 })
    await put(`${prefix}\ufffe`, 'newer')
    await bench.store.remove(
      objects.filter(({ key }) => key.includes('gone')),
      entry,
    )
    await bench.store.remove(objects, entry)
    expect(await keysUnder(prefix)).toEqual([`${prefix}\ufffe`])
  })
}
