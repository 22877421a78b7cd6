import { describe, expect, it } from 'vitest'
import type { Change, RemovedObject, Restoration } from '../../../../lib/storage/object-store.ts'
import { entry } from '../../../support/history.ts'
import { bytesOf } from '../../../support/objects.ts'
import type { Workbench } from './workbench.ts'

/** Earlier versions, and objects that come back. */
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
  const removedIn = async (prefix: string) => {
    const found: RemovedObject[] = []
    for await (const some of bench.store.removedWithin(prefix, { from: 0, to: Date.now() + 5_000 })) found.push(...some)
    return found
  }

  describe('The versions of an object', () => {
    it('They are those of this key, and of no longer one (H-16)', async () => {
      const prefix = fresh()
      for (const name of ['a', 'ab', 'a/b']) await put(`${prefix}${name}`, name)
      expect(await shapes(`${prefix}a`)).toEqual([[1, 'current']])
      expect(await shapes(`${prefix}none`)).toEqual([])
      const [other] = await versionsOf(`${prefix}ab`)
      expect(await read(`${prefix}a`, other?.id ?? '')).toBeUndefined()
      expect(await read(`${prefix}a`, 'no version of anything')).toBeUndefined()
    })

    it('A part of a large old version is read (H-16)', async ({ skip }) => {
      if (!bench.cutsVersions()) return skip('NOT PROVEN: this endpoint answers old versions as a whole')
      const key = `${fresh()}a`
      await put(key, Buffer.alloc(40_000, 'old'))
      await put(key, 'new')
      const old = (await versionsOf(key))[1]
      const object = await bench.store.readVersion(key, old?.id ?? '', () => ({ first: 1, last: 6 }))
      expect(object && (await bytesOf(object)).toString()).toBe('ldoldo')
      expect(object?.info.size).toBe(40_000)
    })

    it('They stay where a file left and came back (H-26)', async () => {
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

  describe('A restored object', () => {
    it('It comes back with its time and type (H-27)', async () => {
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

    it('An older state becomes a new version, and the present one is kept (H-20)', async () => {
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

    it('An unknown version changes nothing, with any change beside it', async () => {
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

    it('Objects come back together or not at all', async () => {
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

    it('An object that was removed again meanwhile is not taken for the old one', async () => {
      const prefix = fresh()
      for (const name of ['a', 'b']) await put(`${prefix}${name}`, name)
      await remove(`${prefix}a`, `${prefix}b`)
      const changes = [await restorationOf(`${prefix}a`), await restorationOf(`${prefix}b`)]
      await put(`${prefix}b`, 'another')
      await remove(`${prefix}b`)
      const result = await place(changes)
      // One machine hides nothing, so the object comes back as an older state.
      if (result.outcome === 'placed') expect(await content(`${prefix}b`)).toBe('b')
      else {
        expect(result).toEqual({ outcome: 'stale', key: `${prefix}b` })
        expect(await keysUnder(prefix)).toEqual([])
      }
    })
  })

  describe('Removed objects', () => {
    it('They are listed by name, folded into removed folders (H-17)', async () => {
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

    it('They are listed in pages, without objects that exist again (H-18)', async () => {
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

    it('They are found by the time of their removal (H-21)', async () => {
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
  })
}
