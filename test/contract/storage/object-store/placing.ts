import { expect, it } from 'vitest'
import type { Change } from '../../../../lib/storage/object-store.ts'
import { entry } from '../../../support/history.ts'
import { infoOf } from '../../../support/objects.ts'
import { kilobyte, type Workbench } from './workbench.ts'

/** Changes that happen together or not at all, and removals. */
export const describePlacing = (bench: Workbench): void => {
  const { fresh, stage, placed, put, content, keysUnder, leftovers, requires } = bench

  it('Changes of every kind happen together, or none if one is impossible', async ({ skip }) => {
    requires('comparesVersions', skip)
    const prefix = fresh()
    for (const key of ['replaced', 'removed', 'moved', 'stale']) await put(`${prefix}${key}`, `old ${key}`)
    const from = (name: string) => infoOf(bench.store, prefix + name)
    const stale = await from('stale')
    await put(`${prefix}stale`, 'newer')
    const changes = async (): Promise<Change[]> => [
      { kind: 'put', key: `${prefix}replaced`, staged: await stage(`${prefix}replaced`, 'new') },
      { kind: 'put', key: `${prefix}added`, staged: await stage(`${prefix}added`, Buffer.alloc(100 * kilobyte)) },
      { kind: 'remove', key: `${prefix}removed` },
      { kind: 'move', from: await from('moved'), key: `${prefix}elsewhere` },
      { kind: 'folder', key: `${prefix}folder/` },
    ]
    const before = await keysUnder(prefix)
    const refused = await changes()
    const last: Change = { kind: 'move', from: stale, key: `${prefix}last` }
    expect(await bench.place([...refused, last])).toEqual({ outcome: 'stale', key: `${prefix}stale` })
    expect(await keysUnder(prefix)).toEqual(before)
    for (const key of ['replaced', 'removed', 'moved']) expect(await content(`${prefix}${key}`)).toBe(`old ${key}`)
    for (const change of refused) if (change.kind === 'put') await change.staged.discard()
    expect(await leftovers()).toBe(0)

    await placed(await changes())
    expect(await keysUnder(prefix)).toEqual(
      ['added', 'elsewhere', 'folder/', 'replaced', 'stale'].map((name) => prefix + name),
    )
    expect(await content(`${prefix}elsewhere`)).toBe('old moved')
    expect(await content(`${prefix}replaced`)).toBe('new')
  })

  it('Staged bytes may be used again after a refusal', async () => {
    const prefix = fresh()
    await put(`${prefix}rival`, 'x')
    for (const bytes of [Buffer.from('few'), Buffer.alloc(100 * kilobyte, 'x')]) {
      const staged = await stage(`${prefix}new`, bytes)
      const change: Change = { kind: 'put', key: `${prefix}new`, staged }
      expect((await bench.place([change], { absent: [`${prefix}rival`] })).outcome).toBe('occupied')
      await placed([change])
      expect(await content(`${prefix}new`)).toBe(bytes.toString('latin1'))
    }
  })

  it('A folder of any size is found among many names', async () => {
    const prefix = fresh()
    await put(`${prefix}3/below/deep`, 'x')
    const names = Array.from({ length: 5 }, (_, index) => `${prefix}${index}/`)
    expect(await bench.place([], { absent: names })).toEqual({ outcome: 'occupied', key: `${prefix}3/` })

    // More names than one listing shows. They sort before all other names.
    const others = Array.from({ length: 1_000 }, (_, at) => ({ kind: 'folder' as const, key: `${prefix}!${at}/` }))
    await placed(others)
    expect(await bench.place([], { absent: names })).toEqual({ outcome: 'occupied', key: `${prefix}3/` })
    expect(await bench.place([], { absent: names.toSpliced(3, 1) })).toEqual({ outcome: 'placed' })
  })

  it('An object stays whole when many callers write it at once (S-33)', async () => {
    const key = `${fresh()}a`
    const bodies = Array.from({ length: 8 }, (_, index) => String(index).repeat(200 * kilobyte))
    await Promise.all(bodies.map((body) => put(key, body)))
    expect(bodies).toContain(await content(key))
  })

  it('A removal removes the listed versions, and nothing newer', async ({ skip }) => {
    requires('comparesVersions', skip)
    const prefix = fresh()
    await put(`${prefix}a`, 'a')
    await put(`${prefix}b`, 'old')
    await put(`${prefix}c`, 'c')
    const { objects } = await bench.store.list({ prefix, folded: false, limit: 10 })
    await put(`${prefix}b`, 'newer')
    const named = (names: string) => objects.filter(({ key }) => names.includes(key.slice(-1)))
    const spared = new Set([`${prefix}b`])
    expect(await bench.store.remove(named('ab'), { entry })).toMatchObject({ bytes: 1, spared })
    await bench.store.remove(named('a'), { entry })
    expect(await keysUnder(prefix)).toEqual([`${prefix}b`, `${prefix}c`])
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
    await bench.store.remove(objects, { entry })
    expect(await keysUnder(prefix)).toEqual([`${prefix}\ufffe`])
  })
}
