import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { unlimited } from '../../../../lib/core/time.ts'
import { fingerprintOf } from '../../../../lib/storage/content.ts'
import { inPieces } from '../../../support/in-pieces.ts'
import { bytesOf, infoOf } from '../../../support/objects.ts'
import { kilobyte, megabyte, type Workbench } from './workbench.ts'

/** Bytes of an upload, from their arrival to their placement. */
export const describeStaging = (bench: Workbench, isLarge: boolean): void => {
  const { fresh, stage, placed, put, content, keysUnder } = bench

  const most = isLarge ? 9 * megabyte : 40 * kilobyte
  const large = isLarge ? [8 * megabyte, 17 * megabyte] : []
  it.each([0, 1, 64 * kilobyte, ...large])('Bytes are stored, with their fingerprint: %i (S-83)', async (size) => {
    const key = `${fresh()}bytes`
    const bytes = randomBytes(size)
    const staged = await stage(key, bytes)
    expect(staged.size).toBe(size)
    await placed([{ kind: 'put', key, staged }])
    const info = await infoOf(bench.store, key)
    expect(info.size).toBe(size)
    expect((await content(key)) === bytes.toString('latin1')).toBe(true)
    expect(await bench.store.fingerprintOf(info, unlimited)).toBe(fingerprintOf(bytes))
    expect((await infoOf(bench.store, key)).fingerprint).toBe(fingerprintOf(bytes))
  })

  it('A read returns the chosen bytes, and not the bytes that the caller expected', async () => {
    const key = `${fresh()}digits`
    await put(key, '0123456789')
    const object = await bench.store.read(key, () => ({ first: 4, last: 6 }), 'bytes=2-8')
    expect(object && (await bytesOf(object)).toString()).toBe('456')
  })

  it.runIf(isLarge)('A fingerprint that is computed late is never given to newer bytes (S-84)', async () => {
    const key = `${fresh()}a`
    await put(key, randomBytes(most))
    const making = bench.store.fingerprintOf(await infoOf(bench.store, key), unlimited)
    await put(key, 'new')
    await making
    expect((await infoOf(bench.store, key)).fingerprint).toBe(fingerprintOf(Buffer.from('new')))
  })

  it('Staged bytes are invisible, and discarded ones are removed', async () => {
    const prefix = fresh()
    const staged = [await stage(`${prefix}small`, 'x'), await stage(`${prefix}large`, randomBytes(most))]
    expect(await keysUnder(prefix)).toEqual([])
    for (const one of staged) await one.discard()
    for (const one of staged) await one.discard()
  })

  it.each([10, most])('A body that breaks off after %i bytes leaves nothing behind', async (size) => {
    const key = `${fresh()}a`
    const body = inPieces(randomBytes(size), 64 * kilobyte, new Error('The connection broke'))
    const staging = bench.store.stage(body, { key, contentType: 'a/b' })
    await expect(staging).rejects.toThrow('The connection broke')
    expect(await bench.store.find(key)).toBeUndefined()
  })
}
