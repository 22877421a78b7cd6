import { hash, randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { unlimited } from '../../../../lib/core/deadline.ts'
import { megabyte, type Workbench } from './workbench.ts'

const md5 = (bytes: Buffer): string => hash('md5', bytes, 'hex')

/** As S3 forms it of what comes in parts of 8 MiB. */
const ofParts = (bytes: Buffer): string => {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += 8 * megabyte) {
    parts.push(hash('md5', bytes.subarray(at, at + 8 * megabyte), 'buffer'))
  }
  return `${hash('md5', Buffer.concat(parts), 'hex')}-${parts.length}`
}

/** What equal bytes have in common, whoever stores them. */
export const describeFingerprints = (bench: Workbench, isLarge: boolean): void => {
  const { fresh, put, placed, stage } = bench

  const find = async (key: string) => {
    const info = await bench.store.find(key)
    if (!info) throw new Error(`There is no ${key}`)
    return info
  }
  const listed = async (prefix: string) =>
    (await bench.store.list({ prefix, folded: false, limit: 10 })).objects.map(({ fingerprint }) => fingerprint)

  const whole = isLarge ? [8 * megabyte] : []
  it.each([0, 1, 20_000, ...whole])('knows the MD5 of %i bytes as soon as they are there', async (size) => {
    const prefix = fresh()
    const bytes = randomBytes(size)
    await put(`${prefix}a`, bytes)
    const info = await find(`${prefix}a`)
    expect(info.fingerprint).toBe(md5(bytes))
    expect(await listed(prefix)).toEqual([md5(bytes)])
    expect(await bench.store.fingerprintOf(info, unlimited)).toBe(md5(bytes))
    expect((await bench.store.read(`${prefix}a`, () => undefined))?.info.fingerprint).toBe(md5(bytes))
  })

  const inParts = isLarge ? [8 * megabyte + 1, 17 * megabyte] : []
  it.each(inParts)('makes one of the parts of %i bytes for who waits', async (size) => {
    const prefix = fresh()
    const bytes = randomBytes(size)
    await put(`${prefix}a`, bytes)
    expect(await bench.store.fingerprintOf(await find(`${prefix}a`), unlimited)).toBe(ofParts(bytes))
    expect(await listed(prefix)).toEqual([ofParts(bytes)])
  })

  it.runIf(isLarge)('makes it of many at once, each its own', async () => {
    const prefix = fresh()
    const files = Array.from({ length: 2 }, (_, index) => ({
      key: `${prefix}${index}`,
      bytes: randomBytes(9 * megabyte),
    }))
    const staged = await Promise.all(files.map(({ key, bytes }) => stage(key, bytes)))
    await placed(staged.map((one, index) => ({ kind: 'put', key: `${prefix}${index}`, staged: one })))
    const infos = await Promise.all(files.map(({ key }) => find(key)))
    const made = await Promise.all(infos.map((info) => bench.store.fingerprintOf(info, unlimited)))
    expect(made).toEqual(files.map(({ bytes }) => ofParts(bytes)))
  })

  it('keeps it when the object is moved', async () => {
    const prefix = fresh()
    await put(`${prefix}a`, 'text')
    const from = await find(`${prefix}a`)
    await placed([{ kind: 'move', from, key: `${prefix}b` }])
    expect((await find(`${prefix}b`)).fingerprint).toBe(from.fingerprint)
  })

  it.runIf(isLarge)('never gives that of what was there before', async () => {
    const key = `${fresh()}a`
    await put(key, randomBytes(9 * megabyte))
    const before = await find(key)
    const making = bench.store.fingerprintOf(before, unlimited)
    await put(key, 'new')
    await making
    expect((await find(key)).fingerprint).toBe(md5(Buffer.from('new')))
  })
}
