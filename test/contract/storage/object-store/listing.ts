import { expect, it } from 'vitest'
import { entry } from '../../../support/history.ts'
import { infoOf } from '../../../support/objects.ts'
import { byBytes, type Workbench } from './workbench.ts'

/** The keys below a prefix, in order. */
export const describeListing = (bench: Workbench): void => {
  const { fresh, placed, put, keysUnder } = bench

  it('A listing is sorted by bytes, in pages, with or without subfolders', async () => {
    const prefix = fresh()
    const names = [
      ...['a', 'a-b', 'a/1', 'a/2', 'a/b/3', 'a0', 'a b', 'Z', 'z', 'é', '\uffee', '😀', 'folder/', 'm/n/o'],
      ...['m/\u{10ffff}x', '&<>"\'%#+?'],
    ]
    await Promise.all(names.map((name) => (name.endsWith('/') ? Promise.resolve() : put(`${prefix}${name}`, name))))
    await placed([{ kind: 'folder', key: `${prefix}folder/` }])
    const all = names.map((name) => `${prefix}${name}`).sort(byBytes)
    const top = [...new Set(names.map((name) => prefix + name.replace(/\/.*/, '/')))].sort(byBytes)
    for (const limit of [1, 2, 3, 1000]) {
      expect(await keysUnder(prefix, { limit })).toEqual(all)
      expect(await keysUnder(prefix, { limit, folded: true })).toEqual(top)
    }
    expect(await keysUnder(`${prefix}a/`, { folded: true })).toEqual([`${prefix}a/1`, `${prefix}a/2`, `${prefix}a/b/`])
    expect(await keysUnder(`${prefix}folder/`, { folded: true })).toEqual([`${prefix}folder/`])
  })

  it('A list has only keys of its prefix, even if it continues after a key outside', async () => {
    const prefix = fresh()
    for (const name of ['a/1', 'b/1', 'c/1']) await put(prefix + name, 'x')
    for (const folded of [false, true]) {
      const { objects } = await bench.store.list({ prefix: `${prefix}b/`, folded, after: `${prefix}a`, limit: 10 })
      expect(objects.map(({ key }) => key)).toEqual([`${prefix}b/1`])
    }
  })

  it('A list of removed entries is complete and in order, however long its pages are', async ({ skip }) => {
    bench.requires('ordersVersions', skip)
    const prefix = fresh()
    await placed([{ kind: 'folder', key: prefix }])
    for (const name of ['a', 'b', 'c/1', 'c/2', 'd', 'e', 'f/1', 'g', 'h/1', 'i', '\uffee', '😀']) {
      for (const content of ['x', 'yy']) await put(prefix + name, content)
      if ('beh'.includes(name.slice(0, 1))) continue
      await bench.store.remove([await infoOf(bench.store, prefix + name)], { entry })
    }
    await bench.store.remove([await infoOf(bench.store, prefix)], { entry })
    for (let limit = 1; limit <= 7; limit++) {
      const found: string[] = []
      for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
        const page = await bench.store.listRemoved({ prefix, limit, after })
        expect(page.entries.length).toBeLessThanOrEqual(limit)
        found.push(...page.entries.map(({ key }) => key.slice(prefix.length)))
        after = page.next
      }
      expect(found).toEqual(['a', 'c/', 'd', 'f/', 'g', 'i', '\uffee', '😀'])
    }
  })
}
