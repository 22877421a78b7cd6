import { expect, it } from 'vitest'
import { createDeadline } from '../../../../lib/core/deadline.ts'
import type { Change } from '../../../../lib/storage/object-store.ts'
import { entry } from '../../../support/history.ts'
import type { Workbench } from './workbench.ts'

/** How objects get other keys. */
export const describeMoving = (bench: Workbench): void => {
  const { fresh, placed, put, content, keysUnder, comparesVersions } = bench

  it('moves an object with its bytes and its type, but never onto another one', async () => {
    const prefix = fresh()
    await put(`${prefix}a`, 'moved', 'image/png')
    await put(`${prefix}taken`, 'stays')
    const from = { key: `${prefix}a`, version: (await bench.store.find(`${prefix}a`))?.version ?? '' }
    expect(await bench.place([{ kind: 'move', from, key: `${prefix}taken` }])).toEqual({
      outcome: 'occupied',
      key: `${prefix}taken`,
    })
    await placed([{ kind: 'move', from, key: `${prefix}b` }])
    expect(await keysUnder(prefix)).toEqual([`${prefix}b`, `${prefix}taken`])
    expect(await bench.store.find(`${prefix}b`)).toMatchObject({ contentType: 'image/png', size: 5 })
    expect(await content(`${prefix}taken`)).toBe('stays')
  })

  it('moves nothing at all when something to be moved has been replaced or removed since it was listed', async ({
    skip,
  }) => {
    if (!comparesVersions()) return skip('NOT PROVEN: this endpoint ignores versions')
    const prefix = fresh()
    for (const name of ['a', 'b']) await put(`${prefix}${name}`, 'old')
    const { objects } = await bench.store.list({ prefix, folded: false, limit: 10 })
    const changes: Change[] = objects.map((from) => ({ kind: 'move', from, key: `${from.key}-moved` }))
    await put(`${prefix}b`, 'newer')
    expect(await bench.place(changes)).toEqual({ outcome: 'stale', key: `${prefix}b` })
    const newest = await bench.store.find(`${prefix}b`)
    if (newest) await bench.store.remove([newest], entry)
    expect(await bench.place(changes)).toEqual({ outcome: 'stale', key: `${prefix}b` })
    expect(await keysUnder(prefix)).toEqual([`${prefix}a`])
  })

  it('moves nothing at all when the time is up before everything is moved', async () => {
    const prefix = fresh()
    const names = [...'abcdefghij']
    for (const name of names) await put(`${prefix}${name}`, name)
    const { objects } = await bench.store.list({ prefix, folded: false, limit: 10 })
    const changes: Change[] = objects.map((from) => ({ kind: 'move', from, key: `${from.key}-moved` }))
    let asked = 0
    expect(
      await bench.place(changes, { deadline: createDeadline(() => (++asked > 6 ? 0 : Number.POSITIVE_INFINITY)) }),
    ).toEqual({
      outcome: 'late',
    })
    expect(await keysUnder(prefix)).toEqual(names.map((name) => prefix + name))
    await placed(changes)
    expect(await keysUnder(prefix)).toEqual(names.map((name) => `${prefix}${name}-moved`))
  })
}
