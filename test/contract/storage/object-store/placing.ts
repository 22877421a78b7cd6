import { expect, it } from 'vitest'
import type { Change } from '../../../../lib/storage/object-store.ts'
import { entry } from '../../../support/history.ts'
import { kilobyte, type Workbench } from './workbench.ts'

const versionOf = async ({ store }: Workbench, key: string) => {
  const info = await store.find(key)
  if (!info) throw new Error(`There is no ${key}`)
  return { key, version: info.version }
}

/** How changes become visible, or do not. */
export const describePlacing = (bench: Workbench): void => {
  const { fresh, stage, placed, put, content, keysUnder, leftovers, comparesVersions } = bench

  it('replaces an object, and gives it another version', async () => {
    const key = `${fresh()}a`
    await put(key, 'old')
    const old = await bench.store.find(key)
    await put(key, 'new')
    expect(await content(key)).toBe('new')
    expect((await bench.store.find(key))?.version).not.toBe(old?.version)
    expect(await leftovers()).toBe(0)
  })

  it('makes every kind of change together, or none of them when one is not possible', async ({ skip }) => {
    if (!comparesVersions()) return skip('NOT PROVEN: this endpoint ignores versions')
    const prefix = fresh()
    for (const key of ['replaced', 'removed', 'moved', 'stale']) await put(`${prefix}${key}`, `old ${key}`)
    const from = (name: string) => versionOf(bench, prefix + name)
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
    expect(await leftovers()).toBe(0)
  })

  it('places nothing when something has gone that must still be there', async () => {
    const prefix = fresh()
    const folder: Change = { kind: 'folder', key: `${prefix}folder/` }
    const key = `${folder.key}a`
    const file: Change = { kind: 'put', key, staged: await stage(key, 'x') }
    const conditions = { present: [folder.key] }
    expect(await bench.place([file], conditions)).toEqual({ outcome: 'stale', key: folder.key })
    expect(await keysUnder(prefix)).toEqual([])
    await placed([folder])
    expect(await bench.place([file], conditions)).toEqual({ outcome: 'placed' })
    expect(await keysUnder(prefix)).toEqual([folder.key, key])
  })

  it('can place what was refused once more', async () => {
    const prefix = fresh()
    await put(`${prefix}rival`, 'x')
    for (const bytes of [Buffer.from('few'), Buffer.alloc(100 * kilobyte, 'x')]) {
      const staged = await stage(`${prefix}new`, bytes)
      const change: Change = { kind: 'put', key: `${prefix}new`, staged }
      expect((await bench.place([change], { absent: [`${prefix}rival`] })).outcome).toBe('occupied')
      await placed([change])
      expect(await content(`${prefix}new`)).toBe(bytes.toString('latin1'))
    }
    expect(await leftovers()).toBe(0)
  })

  it('changes nothing when something is where nothing may be', async () => {
    const prefix = fresh()
    await put(`${prefix}file`, 'x')
    await put(`${prefix}folder/below/deep`, 'x')
    for (const [absent, isRival] of [
      [`${prefix}file`, true],
      [`${prefix}folder/`, true],
      [`${prefix}folder/below/`, true],
      [`${prefix}folder`, false],
      [`${prefix}file/`, false],
      [`${prefix}fold/`, false],
    ] as const) {
      const staged = await stage(`${prefix}new`, 'new')
      const result = await bench.place([{ kind: 'put', key: `${prefix}new`, staged }], { absent: [absent] })
      expect(result).toEqual(isRival ? { outcome: 'occupied', key: absent } : { outcome: 'placed' })
      await staged.discard()
      const found = await bench.store.find(`${prefix}new`)
      expect(found === undefined).toBe(isRival)
      if (found) await bench.store.remove([found], entry)
    }
    expect(await leftovers()).toBe(0)
  })

  it('sees a folder among many names, in a folder of whatever size', async () => {
    const prefix = fresh()
    await put(`${prefix}3/below/deep`, 'x')
    const names = Array.from({ length: 5 }, (_, index) => `${prefix}${index}/`)
    expect(await bench.place([], { absent: names })).toEqual({ outcome: 'occupied', key: `${prefix}3/` })

    // More than one listing shows, and before the names in their order.
    const others = Array.from({ length: 1_000 }, (_, index) => ({
      kind: 'folder' as const,
      key: `${prefix}!${index}/`,
    }))
    await placed(others)
    expect(await bench.place([], { absent: names })).toEqual({ outcome: 'occupied', key: `${prefix}3/` })
    expect(await bench.place([], { absent: names.toSpliced(3, 1) })).toEqual({ outcome: 'placed' })
  }, 60_000)

  it('creates a folder once, and leaves one that is there as it is', async () => {
    const key = `${fresh()}folder/`
    await placed([{ kind: 'folder', key }])
    const first = await bench.store.find(key)
    expect(first?.size).toBe(0)
    await placed([{ kind: 'folder', key }])
    expect(await bench.store.find(key)).toEqual(first)
  })

  it('keeps each object whole when many write the same one (S-33)', async () => {
    const key = `${fresh()}a`
    const bodies = Array.from({ length: 8 }, (_, index) => String(index).repeat(200 * kilobyte))
    await Promise.all(bodies.map((body) => put(key, body)))
    expect(bodies).toContain(await content(key))
    expect(await leftovers()).toBe(0)
  })
}
