import { describe, expect, it } from 'vitest'
import type { Change, RemovedObject, Restoration } from '../../../../lib/storage/object-store.ts'
import { entry } from '../../../support/history.ts'
import { bytesOf } from '../../../support/objects.ts'
import type { Workbench } from './workbench.ts'

/** What was, and what comes back. */
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
    if (!version) throw new Error(`There is no version ${at} of ${key}`)
    return { ...version, kind: 'restore', key }
  }
  const removedIn = async (prefix: string, period = { from: 0, to: Date.now() + 5_000 }) => {
    const found: RemovedObject[] = []
    for await (const some of bench.store.removedWithin(prefix, period)) found.push(...some)
    return found
  }

  describe('the versions of an object', () => {
    it('are what it is and was, the newest first, each with its bytes', async () => {
      const key = `${fresh()}a`
      for (const text of ['1', '22', '333']) await put(key, text)
      expect(await shapes(key)).toEqual([
        [3, 'current'],
        [2, 'replaced'],
        [1, 'replaced'],
      ])
      const versions = await versionsOf(key)
      expect(await Promise.all(versions.map(({ id }) => read(key, id)))).toEqual(['333', '22', '1'])
      expect(new Set(versions.map(({ id }) => id)).size).toBe(3)
      const ages = versions.map(({ at }) => at)
      expect(ages).toEqual(ages.toSorted((one, other) => other - one))
    })

    it('tell what was removed from what was replaced', async () => {
      const key = `${fresh()}a`
      await put(key, '1')
      await put(key, '22')
      await remove(key)
      expect(await shapes(key)).toEqual([
        [2, 'removed'],
        [1, 'replaced'],
      ])
      await put(key, '333')
      expect(await shapes(key)).toEqual([
        [3, 'current'],
        [2, 'removed'],
        [1, 'replaced'],
      ])
    })

    it('come in pages that are none the less all of them', async () => {
      const key = `${fresh()}a`
      for (let size = 1; size <= 5; size++) await put(key, 'x'.repeat(size))
      await remove(key)
      const found: number[] = []
      let after: string | undefined
      do {
        const page = await bench.store.versions(key, { limit: 2, after })
        if (!page) throw new Error('A version that was told is there no more')
        expect(page.versions.length).toBeLessThanOrEqual(2)
        found.push(...page.versions.map(({ size }) => size))
        after = page.next
      } while (after !== undefined)
      expect(found).toEqual([5, 4, 3, 2, 1])
    })

    it('are those of this very key', async () => {
      const prefix = fresh()
      for (const name of ['a', 'ab', 'a/b']) await put(`${prefix}${name}`, name)
      expect(await shapes(`${prefix}a`)).toEqual([[1, 'current']])
      expect(await shapes(`${prefix}none`)).toEqual([])
      const [other] = await versionsOf(`${prefix}ab`)
      expect(await read(`${prefix}a`, other?.id ?? '')).toBeUndefined()
      expect(await read(`${prefix}a`, 'no version of anything')).toBeUndefined()
    })

    it('are read in parts as well, large ones too', async ({ skip }) => {
      if (!bench.cutsVersions()) return skip('NOT PROVEN: this endpoint answers old versions as a whole')
      const key = `${fresh()}a`
      await put(key, Buffer.alloc(40_000, 'old'))
      await put(key, 'new')
      const old = (await versionsOf(key))[1]
      const object = await bench.store.readVersion(key, old?.id ?? '', () => ({ first: 1, last: 6 }))
      expect(object && (await bytesOf(object)).toString()).toBe('ldoldo')
      expect(object?.info.size).toBe(40_000)
    })

    it('stay at the old place of what is moved, where it counts as removed', async () => {
      const prefix = fresh()
      await put(`${prefix}a`, 'a')
      const from = await bench.store.find(`${prefix}a`)
      if (!from) throw new Error('There is nothing to move')
      await placed([{ kind: 'move', from, key: `${prefix}b` }])
      expect(await shapes(`${prefix}a`)).toEqual([[1, 'removed']])
      expect(await shapes(`${prefix}b`)).toEqual([[1, 'current']])
      await placed([await restorationOf(`${prefix}a`)])
      expect([await content(`${prefix}a`), await content(`${prefix}b`)]).toEqual(['a', 'a'])
    })

    it('stay at a place that a file has left and come back to (H-26)', async () => {
      const [here, there] = [`${fresh()}a`, `${fresh()}b`]
      await put(here, 'a')
      const move = async (key: string, to: string) => {
        const from = await bench.store.find(key)
        if (!from) throw new Error('There is nothing to move')
        await placed([{ kind: 'move', from, key: to }])
      }
      await move(here, there)
      await move(there, here)
      expect(await shapes(here)).toEqual([
        [1, 'current'],
        [1, 'removed'],
      ])
      const [present, old] = await versionsOf(here)
      expect(old?.id).not.toBe(present?.id)
      expect(await read(here, old?.id ?? '')).toBe('a')
    })
  })

  describe('an object is restored', () => {
    it('as it was when it was removed, time and type included (H-27)', async () => {
      const key = `${fresh()}a`
      await put(key, 'old')
      await put(key, 'newer', 'text/css')
      const before = await bench.store.find(key)
      await remove(key)
      await placed([await restorationOf(key)])
      expect(await bench.store.find(key)).toEqual(before)
      expect(await content(key)).toBe('newer')
      expect(await shapes(key)).toEqual([
        [5, 'current'],
        [3, 'replaced'],
      ])
    })

    it('and removed again, and restored again', async () => {
      const key = `${fresh()}a`
      await put(key, 'a')
      for (let round = 0; round < 3; round++) {
        await remove(key)
        expect(await content(key)).toBeUndefined()
        await placed([await restorationOf(key)])
        expect(await content(key)).toBe('a')
      }
      expect(await shapes(key)).toEqual([[1, 'current']])
    })

    it('in an older state, as a new one with the same bytes; what was there is kept', async () => {
      const key = `${fresh()}a`
      for (const text of ['1', '22', '333']) await put(key, text, `text/x${text}`)
      await placed([await restorationOf(key, 2)])
      expect(await content(key)).toBe('1')
      expect((await bench.store.find(key))?.contentType).toBe('text/x1')
      expect(await shapes(key)).toEqual([
        [1, 'current'],
        [3, 'replaced'],
        [2, 'replaced'],
        [1, 'replaced'],
      ])
    })

    it('in an older state than the one that was removed', async () => {
      const key = `${fresh()}a`
      await put(key, '1')
      await put(key, '22')
      await remove(key)
      await placed([await restorationOf(key, 1)])
      expect(await content(key)).toBe('1')
      expect((await shapes(key)).slice(0, 2)).toEqual([
        [1, 'current'],
        [2, 'removed'],
      ])
    })

    it('to the state in which it is: nothing changes', async () => {
      const key = `${fresh()}a`
      await put(key, '1')
      await put(key, '22')
      const before = await bench.store.find(key)
      await placed([await restorationOf(key)])
      expect(await content(key)).toBe('22')
      expect((await bench.store.find(key))?.version).toBe(before?.version)
    })

    it('not at all where what was asked for is not there, and nothing else of it happens', async () => {
      const prefix = fresh()
      await put(`${prefix}a`, 'a')
      await remove(`${prefix}a`)
      const changes: Change[] = [
        { kind: 'put', key: `${prefix}b`, staged: await stage(`${prefix}b`, 'b') },
        { kind: 'restore', key: `${prefix}a`, id: 'no version of anything' },
      ]
      expect(await place(changes)).toEqual({ outcome: 'stale', key: `${prefix}a` })
      expect(await keysUnder(prefix)).toEqual([])
      for (const change of changes) if (change.kind === 'put') await change.staged.discard()
    })

    it('with all others or not at all: what came back is taken back', async () => {
      const prefix = fresh()
      for (const name of ['a', 'b']) await put(`${prefix}${name}`, name)
      await remove(`${prefix}a`, `${prefix}b`)
      const changes: Change[] = [
        await restorationOf(`${prefix}a`),
        await restorationOf(`${prefix}b`),
        { kind: 'restore', key: `${prefix}c`, id: 'no version of anything' },
      ]
      expect(await place(changes)).toEqual({ outcome: 'stale', key: `${prefix}c` })
      expect(await keysUnder(prefix)).toEqual([])
      await placed([await restorationOf(`${prefix}a`), await restorationOf(`${prefix}b`)])
      expect([await content(`${prefix}a`), await content(`${prefix}b`)]).toEqual(['a', 'b'])
    })

    it('not when somebody else has removed it once more since it was looked for', async () => {
      const prefix = fresh()
      for (const name of ['a', 'b']) await put(`${prefix}${name}`, name)
      await remove(`${prefix}a`, `${prefix}b`)
      const changes = [await restorationOf(`${prefix}a`), await restorationOf(`${prefix}b`)]
      await put(`${prefix}b`, 'another')
      await remove(`${prefix}b`)
      const result = await place(changes)
      // Where nothing hides what is kept, it comes back all the same: as one that is older than another.
      if (result.outcome === 'placed') expect(await content(`${prefix}b`)).toBe('b')
      else {
        expect(result).toEqual({ outcome: 'stale', key: `${prefix}b` })
        expect(await keysUnder(prefix)).toEqual([])
      }
    })

    it('not where something is in the way', async () => {
      const prefix = fresh()
      await put(`${prefix}a`, 'a')
      await remove(`${prefix}a`)
      const restoration = await restorationOf(`${prefix}a`)
      await put(`${prefix}a`, 'another')
      expect(await place([restoration], { absent: [`${prefix}a`] })).toEqual({ outcome: 'occupied', key: `${prefix}a` })
      expect(await content(`${prefix}a`)).toBe('another')
    })
  })

  describe('what was removed', () => {
    it('is listed by name, folded into the folders that are gone', async () => {
      const prefix = fresh()
      const names = ['a', 'folder/b', 'folder/c/d', 'half/e', 'half/f', 'stays', 'täglich']
      for (const name of names) await put(`${prefix}${name}`, name)
      await placed([{ kind: 'folder', key: `${prefix}empty/` }])
      await remove(...names.filter((name) => !['half/f', 'stays'].includes(name)).map((name) => `${prefix}${name}`))
      await remove(`${prefix}empty/`)
      const { entries, next } = await bench.store.listRemoved({ prefix, limit: 100 })
      expect(entries.map(({ key, size }) => [key.slice(prefix.length), size])).toEqual([
        ['a', 1],
        ['empty/', null],
        ['folder/', null],
        ['täglich', 8],
      ])
      expect(next).toBeUndefined()
      for (const { removedAt } of entries) expect(Math.abs(removedAt - Date.now())).toBeLessThan(60_000)
      const below = await bench.store.listRemoved({ prefix: `${prefix}folder/`, limit: 100 })
      expect(below.entries.map(({ key }) => key.slice(prefix.length))).toEqual(['folder/b', 'folder/c/'])
    })

    it('is listed in pages, and what is there again is not', async () => {
      const prefix = fresh()
      const names = ['a', 'b/1', 'b/2', 'c', 'd/1', 'e', 'f']
      for (const name of names) await put(`${prefix}${name}`, name)
      await remove(...names.map((name) => `${prefix}${name}`))
      await put(`${prefix}e`, 'again')
      const found: string[] = []
      let after: string | undefined
      do {
        const page = await bench.store.listRemoved({ prefix, limit: 2, after })
        found.push(...page.entries.map(({ key }) => key.slice(prefix.length)))
        after = page.next
      } while (after !== undefined)
      expect(found).toEqual(['a', 'b/', 'c', 'd/', 'f'])
    })

    it('is found by when that was, as it was then', async () => {
      const prefix = fresh()
      for (const name of ['a', 'b/c']) await put(`${prefix}${name}`, `old ${name}`)
      for (const name of ['a', 'b/c', 'kept']) await put(`${prefix}${name}`, name)
      await remove(`${prefix}a`, `${prefix}b/c`)
      const found = await removedIn(prefix)
      expect(found.map(({ key }) => key.slice(prefix.length))).toEqual(['a', 'b/c'])
      await placed(found.map((one): Change => ({ ...one, kind: 'restore' })))
      expect(await keysUnder(prefix)).toEqual(['a', 'b/c', 'kept'].map((name) => `${prefix}${name}`))
      expect(await content(`${prefix}b/c`)).toBe('b/c')
      expect(await removedIn(prefix)).toEqual([])
    })

    it('is not found when it was removed at another time', async () => {
      const prefix = fresh()
      await put(`${prefix}a`, 'a')
      await remove(`${prefix}a`)
      const now = Date.now()
      expect(await removedIn(prefix, { from: now - 100_000, to: now - 50_000 })).toEqual([])
      expect(await removedIn(prefix, { from: now + 50_000, to: now + 100_000 })).toEqual([])
    })

    it('is found, and comes back, where something newer is there', async () => {
      const prefix = fresh()
      await put(`${prefix}a`, 'removed')
      await remove(`${prefix}a`)
      await put(`${prefix}a`, 'newer')
      const found = await removedIn(prefix)
      await placed(found.map((one): Change => ({ ...one, kind: 'restore' })))
      expect(await content(`${prefix}a`)).toBe('removed')
      expect((await versionsOf(`${prefix}a`)).map(({ size }) => size)).toContain(5)
    })
  })
}
