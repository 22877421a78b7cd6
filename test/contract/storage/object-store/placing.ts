import { expect, it } from 'vitest'
import { entry } from '../../../support/history.ts'
import { kilobyte, type Workbench } from './workbench.ts'

/** Concurrent writes, and removals. */
export const describePlacing = (bench: Workbench): void => {
  const { fresh, put, content, keysUnder, requires } = bench

  it('An object stays whole when many callers write it at once (S-33)', async () => {
    const key = `${fresh()}a`
    const bodies = Array.from({ length: 8 }, (_, index) => String(index).repeat(200 * kilobyte))
    await Promise.all(bodies.map((body) => put(key, body)))
    expect(bodies).toContain(await content(key))
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
