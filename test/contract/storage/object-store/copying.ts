import { describe, expect, it } from 'vitest'
import { createDeadline } from '../../../../lib/core/deadline.ts'
import type { Change, ListedObject } from '../../../../lib/storage/object-store.ts'
import { entry } from '../../../support/history.ts'
import { kilobyte, type Workbench } from './workbench.ts'

/** How objects come to be in a second place. */
export const describeCopying = (bench: Workbench): void => {
  const { fresh, placed, put, content, keysUnder, leftovers, comparesVersions, refusesTaken } = bench

  const listed = async (prefix: string): Promise<readonly ListedObject[]> =>
    (await bench.store.list({ prefix, folded: false, limit: 100 })).objects

  const found = async (key: string): Promise<ListedObject> => {
    const info = await bench.store.find(key)
    if (!info) throw new Error(`There is no ${key}`)
    return info
  }

  const copyOf = async (from: string, to: string): Promise<Change> => ({
    kind: 'copy',
    from: await found(from),
    key: to,
  })

  const remove = async (key: string) => bench.store.remove([await found(key)], entry)

  it('copies an object with its bytes and its type, or with another type, and leaves it as it was', async () => {
    const prefix = fresh()
    await put(`${prefix}a`, 'copied', 'image/png')
    const from = await found(`${prefix}a`)
    await placed([
      { kind: 'copy', from, key: `${prefix}b` },
      { kind: 'copy', from, key: `${prefix}c`, contentType: 'text/css' },
    ])
    expect(await found(`${prefix}a`)).toEqual(from)
    expect(await bench.store.find(`${prefix}b`)).toMatchObject({ contentType: 'image/png', size: 6 })
    expect(await bench.store.find(`${prefix}c`)).toMatchObject({ contentType: 'text/css', size: 6 })
    expect([await content(`${prefix}b`), await content(`${prefix}c`)]).toEqual(['copied', 'copied'])
  })

  it('gives a copy the time at which it was made', async () => {
    const prefix = fresh()
    await put(`${prefix}a`, 'x')
    // S3 counts in seconds.
    const before = Math.floor(Date.now() / 1000) * 1000
    await placed([await copyOf(`${prefix}a`, `${prefix}b`)])
    expect((await found(`${prefix}b`)).modified).toBeGreaterThanOrEqual(before)
  })

  it('copies a folder as a folder', async () => {
    const prefix = fresh()
    await placed([{ kind: 'folder', key: `${prefix}f/` }])
    await placed([await copyOf(`${prefix}f/`, `${prefix}g/`)])
    expect(await keysUnder(prefix)).toEqual([`${prefix}f/`, `${prefix}g/`])
  })

  it('copies never onto another object', async ({ skip }) => {
    if (!refusesTaken()) return skip('NOT PROVEN: this endpoint copies onto what is there')
    const prefix = fresh()
    for (const name of ['a', 'taken']) await put(`${prefix}${name}`, name)
    const changes = [await copyOf(`${prefix}a`, `${prefix}b`), await copyOf(`${prefix}a`, `${prefix}taken`)]
    expect(await bench.place(changes)).toEqual({ outcome: 'occupied', key: `${prefix}taken` })
    expect(await keysUnder(prefix)).toEqual([`${prefix}a`, `${prefix}taken`])
    expect(await content(`${prefix}taken`)).toBe('taken')
  })

  it('copies nothing at all when something to be copied has been replaced or removed since it was listed', async ({
    skip,
  }) => {
    if (!comparesVersions()) return skip('NOT PROVEN: this endpoint ignores versions')
    const prefix = fresh()
    for (const name of ['a', 'b']) await put(`${prefix}${name}`, 'old')
    const changes = (await listed(prefix)).map((from): Change => ({ kind: 'copy', from, key: `${from.key}-copied` }))
    await put(`${prefix}b`, 'newer')
    expect(await bench.place(changes)).toEqual({ outcome: 'stale', key: `${prefix}b` })
    await remove(`${prefix}b`)
    expect(await bench.place(changes)).toEqual({ outcome: 'stale', key: `${prefix}b` })
    expect(await keysUnder(prefix)).toEqual([`${prefix}a`])
  })

  it('copies nothing at all when the time is up before everything is copied', async () => {
    const prefix = fresh()
    const names = [...'abcdefghij']
    for (const name of names) await put(`${prefix}${name}`, name)
    const changes = (await listed(prefix)).map((from): Change => ({ kind: 'copy', from, key: `${from.key}-copied` }))
    let asked = 0
    expect(
      await bench.place(changes, { deadline: createDeadline(() => (++asked > 6 ? 0 : Number.POSITIVE_INFINITY)) }),
    ).toEqual({
      outcome: 'late',
    })
    expect(await keysUnder(prefix)).toEqual(names.map((name) => prefix + name))
    await placed(changes)
    for (const name of names) expect(await content(`${prefix}${name}-copied`)).toBe(name)
  })

  describe.each([
    ['small', 10],
    ['large', 40 * kilobyte],
  ])('a copy of a %s object', (_, size) => {
    const bytes = 'x'.repeat(size)
    const newer = 'y'.repeat(size)

    it.each(['source', 'copy'])('keeps its bytes when the other one is removed, or replaced: the %s', async (which) => {
      const prefix = fresh()
      await put(`${prefix}a`, bytes)
      await placed([await copyOf(`${prefix}a`, `${prefix}b`), await copyOf(`${prefix}a`, `${prefix}c`)])
      const [going, staying] = which === 'source' ? ['a', 'b'] : ['b', 'a']
      await put(`${prefix}${going}`, newer)
      expect(await content(`${prefix}${staying}`)).toBe(bytes)
      await remove(`${prefix}${going}`)
      await placed([{ kind: 'remove', key: `${prefix}c` }])
      expect(await content(`${prefix}${staying}`)).toBe(bytes)
      await placed([{ kind: 'move', from: await found(`${prefix}${staying}`), key: `${prefix}d` }])
      expect(await content(`${prefix}d`)).toBe(bytes)
      await remove(`${prefix}d`)
      expect(await leftovers()).toBe(0)
    })

    it('leaves nothing behind when it goes together with its source', async () => {
      const prefix = fresh()
      await put(`${prefix}a`, bytes)
      await placed([await copyOf(`${prefix}a`, `${prefix}b`)])
      await bench.store.remove(await listed(prefix), entry)
      expect(await keysUnder(prefix)).toEqual([])
      expect(await leftovers()).toBe(0)
    })
  })
}
