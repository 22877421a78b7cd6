import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createDeadline } from '../../../../lib/core/deadline.ts'
import type { Change, PlaceConditions, PlaceOutcome } from '../../../../lib/storage/object-store.ts'
import { type StoragePath, toStoragePath } from '../../../../lib/storage/path.ts'
import { entry } from '../../../support/history.ts'
import { site, type Workbench } from './workbench.ts'

const rounds = 10

/** Changes and removals of the same objects at the same time. */
export const describeRacing = (bench: Workbench): void => {
  const { fresh, stage, put, content, keysUnder } = bench

  const putOf = async (key: string, text: string): Promise<Extract<Change, { kind: 'put' }>> => ({
    kind: 'put',
    key,
    staged: await stage(key, text),
  })

  /** Folders that must not be locked. `isSeen`: their locks were read together with every other condition. */
  const unlockedAt = async (folders: readonly StoragePath[], isSeen: boolean): Promise<PlaceConditions['unlocked']> => {
    const { ids } = await bench.removals.locksOf(site, folders)
    return { site, folders, ...(isSeen && { seen: ids }) }
  }

  const discard = async (change: Change, { outcome }: PlaceOutcome) => {
    if (change.kind === 'put' && outcome !== 'placed') await change.staged.discard()
  }

  it('A name is never a file and a folder at once', async () => {
    for (let round = 0; round < rounds; round++) {
      const prefix = fresh()
      const file = await putOf(`${prefix}name`, 'file')
      const below = await putOf(`${prefix}name/below`, 'below')
      const unlocked = await unlockedAt([], round % 2 === 0)
      const results = await Promise.all([
        bench.place([file], { absent: [`${prefix}name/`], unlocked }),
        bench.place([{ kind: 'folder', key: `${prefix}name/` }, below], { absent: [`${prefix}name`], unlocked }),
      ])
      await discard(file, results[0])
      await discard(below, results[1])
      const outcomes = results.map(({ outcome }) => outcome)
      expect(outcomes.filter((outcome) => outcome === 'placed').length).toBeLessThan(2)
      expect(await keysUnder(prefix)).toEqual([
        ...(outcomes[0] === 'placed' ? [`${prefix}name`] : []),
        ...(outcomes[1] === 'placed' ? [`${prefix}name/`, `${prefix}name/below`] : []),
      ])
    }
  })

  it('A file cannot take the name of a folder that has no marker (S-43)', async () => {
    const prefix = fresh()
    await put(`${prefix}name/below`, 'x')
    const file = await putOf(`${prefix}name`, 'file')
    for (const isSeen of [true, false]) {
      const conditions = { absent: [`${prefix}name/`], unlocked: await unlockedAt([], isSeen) }
      expect(await bench.place([file], conditions)).toEqual({ outcome: 'occupied', key: `${prefix}name/` })
      expect(await keysUnder(prefix)).toEqual([`${prefix}name/below`])
    }
    await file.staged.discard()
  })

  it.for(['move', 'copy'] as const)('Only one %s succeeds if two have the same target key', async (kind, { skip }) => {
    bench.requires('refusesTaken', skip)
    for (let round = 0; round < rounds; round++) {
      const prefix = fresh()
      await put(`${prefix}a`, 'a')
      await put(`${prefix}b`, 'b')
      const { objects } = await bench.store.list({ prefix, folded: false, limit: 10 })
      const results = await Promise.all(
        objects.map((from) => bench.place([{ kind, from, key: `${prefix}to` }], { absent: [`${prefix}to`] })),
      )
      const taken = ['a', 'b'].filter((_, index) => results[index]?.outcome === 'placed')
      expect(taken.length).toBeLessThan(2)
      expect(await content(`${prefix}to`)).toBe(taken[0])
      // A move removes its source, and a copy keeps it.
      const left = ['a', 'b'].filter((name) => kind === 'copy' || !taken.includes(name))
      expect(await keysUnder(prefix)).toEqual(
        [...left, ...(taken.length > 0 ? ['to'] : [])].map((name) => prefix + name),
      )
    }
  })

  it('A copy of an object that is being replaced has the old bytes, or is refused', async () => {
    for (let round = 0; round < rounds; round++) {
      const prefix = fresh()
      await put(`${prefix}a`, 'old')
      const { objects } = await bench.store.list({ prefix, folded: false, limit: 10 })
      const replacement = await putOf(`${prefix}a`, 'newer')
      const [result] = await Promise.all([
        bench.place(objects.map((from) => ({ kind: 'copy', from, key: `${prefix}b` }))),
        bench.place([replacement]),
      ])
      expect(await content(`${prefix}a`)).toBe('newer')
      if (result.outcome === 'placed') expect(await content(`${prefix}b`)).toBe('old')
      else expect([result, await keysUnder(prefix)]).toEqual([{ outcome: 'stale', key: `${prefix}a` }, [`${prefix}a`]])
    }
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
    expect(await bench.place([], { unlocked: { site, folders: [toStoragePath('going')] } })).toEqual({
      outcome: 'placed',
    })
    await bench.removals.close(site, folder, id, 0)
    expect(await bench.place([change], { unlocked })).toEqual({ outcome: 'placed' })
    expect(await content(key)).toBe('x')
  })

  /** A removal is recorded before it lists its folder. So an object is either in that list, or is refused. */
  const removeWhilePlacing = async (
    name: string,
    begin: (open: () => void) => Pick<PlaceConditions, 'deadline'> & { readonly begun?: Promise<void> },
  ) => {
    const prefix = fresh()
    const key = `${prefix}a`
    const folder = toStoragePath(name)
    const change = await putOf(key, 'x')
    let listing: Promise<string[]> | undefined
    const { begun, ...conditions } = begin(() => {
      listing ??= bench.removals.open(site, folder, name, entry).then(() => keysUnder(prefix))
    })
    const result = await bench.place([change], { ...conditions, unlocked: { site, folders: [folder] } })
    await discard(change, result)
    await begun
    const listed = await listing
    if (result.outcome === 'placed') expect(listed).toEqual([key])
    else expect([result.outcome, await keysUnder(prefix)]).toEqual(['locked', []])
    await bench.removals.close(site, folder, name, 0)
  }

  const soon = async (turns: number, open: () => void) => {
    for (let count = 0; count < turns; count++) await turn()
    open()
  }

  it('A removal that begins while objects are written misses none of them', async () => {
    for (let round = 0; round < rounds; round++) {
      await removeWhilePlacing(`beside-${round}`, (open) => ({ begun: soon(round, open) }))
      await removeWhilePlacing(`within-${round}`, (open) => ({
        deadline: createDeadline(() => {
          open()
          return Number.POSITIVE_INFINITY
        }),
      }))
    }
  })
}
