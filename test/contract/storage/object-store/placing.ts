import { expect, it } from 'vitest'
import { kilobyte, type Workbench } from './workbench.ts'

/** How changes become visible, or do not. */
export const describePlacing = (bench: Workbench): void => {
  const { fresh, stage, placed, put, content, keysUnder, leftovers } = bench

  it('replaces an object, and gives it another version', async () => {
    const key = `${fresh()}a`
    await put(key, 'old')
    const old = await bench.store.find(key)
    await put(key, 'new')
    expect(await content(key)).toBe('new')
    expect((await bench.store.find(key))?.version).not.toBe(old?.version)
    expect(await leftovers()).toBe(0)
  })

  it('takes every kind of change back', async () => {
    const prefix = fresh()
    for (const key of ['replaced', 'removed', 'moved']) await put(`${prefix}${key}`, `old ${key}`)
    const from = { key: `${prefix}moved`, version: (await bench.store.find(`${prefix}moved`))?.version ?? '' }
    const change = await placed([
      { kind: 'put', key: `${prefix}replaced`, staged: await stage(`${prefix}replaced`, 'new') },
      { kind: 'put', key: `${prefix}added`, staged: await stage(`${prefix}added`, 'new') },
      { kind: 'remove', key: `${prefix}removed` },
      { kind: 'move', from, key: `${prefix}elsewhere` },
      { kind: 'folder', key: `${prefix}folder/` },
    ])
    expect(await keysUnder(prefix)).toEqual([
      `${prefix}added`,
      `${prefix}elsewhere`,
      `${prefix}folder/`,
      `${prefix}replaced`,
    ])
    await change.undo()
    expect(await keysUnder(prefix)).toEqual([`${prefix}moved`, `${prefix}removed`, `${prefix}replaced`])
    for (const key of ['replaced', 'removed', 'moved']) expect(await content(`${prefix}${key}`)).toBe(`old ${key}`)
    expect(await leftovers()).toBe(0)
  })

  it('leaves alone what has been removed since, when it takes a change back', async () => {
    const key = `${fresh()}a`
    await put(key, 'old')
    const change = await placed([{ kind: 'put', key, staged: await stage(key, 'new') }])
    const current = await bench.store.find(key)
    if (current) await bench.store.remove([current])
    await change.undo()
    expect(await bench.store.find(key)).toBeUndefined()
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
      const result = await bench.store.place([{ kind: 'put', key: `${prefix}new`, staged }], [absent])
      expect([absent, result.outcome]).toEqual([absent, isRival ? 'rival' : 'placed'])
      if (result.outcome === 'placed') await result.undo()
      else expect(result).toEqual({ outcome: 'rival', key: absent })
      await staged.discard()
      expect(await bench.store.find(`${prefix}new`)).toBeUndefined()
    }
    expect(await leftovers()).toBe(0)
  })

  it('sees a folder among many names, in a folder of whatever size', async () => {
    const prefix = fresh()
    await put(`${prefix}3/below/deep`, 'x')
    const names = Array.from({ length: 5 }, (_, index) => `${prefix}${index}/`)
    expect(await bench.store.place([], names)).toEqual({ outcome: 'rival', key: `${prefix}3/` })

    // More than one listing shows, and before the names in their order.
    const others = Array.from({ length: 1_000 }, (_, index) => ({
      kind: 'folder' as const,
      key: `${prefix}!${index}/`,
    }))
    await (await placed(others)).settle()
    expect(await bench.store.place([], names)).toEqual({ outcome: 'rival', key: `${prefix}3/` })
    const free = await bench.store.place([], names.toSpliced(3, 1))
    expect(free.outcome).toBe('placed')
    if (free.outcome === 'placed') await free.settle()
  }, 60_000)

  it('creates a folder once, and leaves one that is there as it is', async () => {
    const key = `${fresh()}folder/`
    await (await placed([{ kind: 'folder', key }])).settle()
    const first = await bench.store.find(key)
    expect(first?.size).toBe(0)
    await (await placed([{ kind: 'folder', key }])).settle()
    expect(await bench.store.find(key)).toEqual(first)
  })

  it('keeps each object whole when many write the same one', async () => {
    const key = `${fresh()}a`
    const bodies = Array.from({ length: 8 }, (_, index) => String(index).repeat(200 * kilobyte))
    await Promise.all(bodies.map((body) => put(key, body)))
    expect(bodies).toContain(await content(key))
    expect(await leftovers()).toBe(0)
  })
}
