import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Change } from '../../../../lib/storage/object-store.ts'
import { bytesOf } from '../../../support/objects.ts'
import { chunks, kilobyte, megabyte, type Workbench } from './workbench.ts'

async function* brokenAfter(bytes: Buffer): AsyncGenerator<Buffer> {
  yield* chunks(bytes)
  throw new Error('The connection broke')
}

/** What comes of bytes on their way in. */
export const describeStaging = (bench: Workbench, isLarge: boolean): void => {
  const { fresh, stage, placed, put, content, keysUnder, leftovers } = bench

  it('gives back what was put: its bytes, size, type, time and a version', async () => {
    const key = `${fresh()}a.txt`
    const before = Date.now()
    await put(key, 'hello')
    const info = await bench.store.find(key)
    expect(info).toMatchObject({ key, size: 5, contentType: 'text/plain', version: expect.stringMatching(/\S/) })
    // Stores keep times to the second.
    expect(Math.abs((info?.modified ?? 0) - before)).toBeLessThan(60_000)
    expect(await content(key)).toBe('hello')
  })

  const most = isLarge ? 9 * megabyte : 40 * kilobyte
  const large = isLarge ? [8 * megabyte, 8 * megabyte + 1, 17 * megabyte] : []
  it.each([0, 1, 64 * kilobyte, ...large])('keeps %i bytes as they are', async (size) => {
    const key = `${fresh()}bytes`
    const bytes = randomBytes(size)
    const staged = await stage(key, bytes)
    expect(staged.size).toBe(size)
    await placed([{ kind: 'put', key, staged }])
    expect(await bench.store.find(key)).toMatchObject({ size })
    expect((await content(key)) === bytes.toString('latin1')).toBe(true)
    expect(await leftovers()).toBe(0)
  })

  it('reads a range of the very state that it describes', async () => {
    const key = `${fresh()}a`
    await put(key, '0123456789')
    const object = await bench.store.read(key, ({ size }) => ({ first: 2, last: size - 3 }))
    expect(object?.info.size).toBe(10)
    expect(object && (await bytesOf(object)).toString()).toBe('234567')
    expect((await bench.store.read(key, () => undefined))?.body).toBeUndefined()
  })

  it('finds nothing where nothing is', async () => {
    const prefix = fresh()
    expect(await bench.store.find(`${prefix}a`)).toBeUndefined()
    expect(await bench.store.read(`${prefix}a`, () => ({ first: 0, last: 0 }))).toBeUndefined()
    expect(await bench.store.exists(prefix)).toBe(false)
    expect(await keysUnder(prefix)).toEqual([])
  })

  it('shows nothing of what is staged only, and keeps nothing of what is let go', async () => {
    const prefix = fresh()
    const staged = [await stage(`${prefix}small`, 'x'), await stage(`${prefix}large`, randomBytes(most))]
    expect(await keysUnder(prefix)).toEqual([])
    for (const one of staged) await one.discard()
    for (const one of staged) await one.discard()
    expect(await leftovers()).toBe(0)
  })

  it.each([10, most])('keeps nothing of content that breaks after %i bytes', async (size) => {
    const key = `${fresh()}a`
    const staging = bench.store.stage(brokenAfter(randomBytes(size)), { key, contentType: 'a/b' })
    await expect(staging).rejects.toThrow('The connection broke')
    expect(await bench.store.find(key)).toBeUndefined()
    expect(await leftovers()).toBe(0)
  })

  it('puts bytes in a place that was not known when they were staged', async () => {
    const prefix = fresh()
    const small = await stage(undefined, 'small')
    const large = await stage(undefined, Buffer.alloc(most, 'x'))
    const changes: Change[] = [
      { kind: 'put', key: `${prefix}a/c`, staged: small },
      { kind: 'put', key: `${prefix}b/d`, staged: large },
    ]
    await placed(changes)
    expect(await keysUnder(prefix)).toEqual([`${prefix}a/c`, `${prefix}b/d`])
    expect((await bench.store.find(`${prefix}b/d`))?.size).toBe(most)
    expect((await bench.store.find(`${prefix}b/d`))?.contentType).toBe('text/plain')
    expect(await leftovers()).toBe(0)
  })
}
