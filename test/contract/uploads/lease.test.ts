import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Durable } from '../../../lib/storage/uploads/upload.ts'
import { type LeaseTerms, renewedLease } from '../../../lib/storage/uploads/uploads.ts'
import { statusAndCode } from '../../support/answer.ts'
import { createGate } from '../../support/gate.ts'
import { entry } from '../../support/history.ts'
import { storageHands } from '../storage/hands.ts'
import type { StorageUnderTest } from '../storage/service.ts'
import { uploadIn } from './service.ts'

const second = 1_000
const mebibyte = 1024 * 1024

/** A body of two chunks. The test sends the second chunk, or breaks the body off. */
const openBody = (first: string) => {
  const arrived = Promise.withResolvers<void>()
  const rest = Promise.withResolvers<string>()
  async function* chunks() {
    yield Buffer.from(first)
    arrived.resolve()
    yield Buffer.from(await rest.promise)
  }
  return {
    // Nothing is read ahead, so the service has received the first chunk when it asks for the second chunk.
    stream: Readable.from(chunks(), { highWaterMark: 1 }),
    arrived: arrived.promise,
    end: (text: string) => rest.resolve(text),
    breakOff: () => rest.reject(new Error('The caller has gone')),
  }
}

/** Begins an append, up to the point where it waits for more bytes. */
const begin = async (service: StorageUnderTest) => {
  const upload = uploadIn(await service.create('a.txt', 10))
  const body = openBody('hello')
  const appending = service.patch(upload, 0, body.stream)
  await body.arrived
  return { upload, body, appending }
}

/** A service whose clock the test controls, and a spy on the renewals of leases. */
const start = async (open: (typeof storageHands)[number]['open'], lease: LeaseTerms = renewedLease) => {
  // Only intervals are faked, because the stores wait with other timers.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  let passed = 0
  const begun = Date.now()
  const clock = { wall: () => begun + passed, monotonic: () => passed }
  const service: StorageUnderTest = await open({ clock, lease })
  const renew = vi.spyOn(service.deps.uploadRecords, 'renew')
  return {
    ...service,
    renew,
    /** Advances the clock by seconds, and runs the renewals that are due. */
    async pass(seconds: number) {
      for (let left = seconds; left > 0; left--) {
        passed += second
        vi.advanceTimersByTime(second)
        await Promise.allSettled(renew.mock.results.map(({ value }) => value))
      }
    },
    /** Advances the clock by seconds, as if the process were frozen. */
    freeze(seconds: number) {
      passed += seconds * second
    },
  }
}

describe.each(storageHands)('The lease of an append: $name', ({ open }) => {
  test('One call reads the upload and takes the lease', async () => {
    const service = await start(open)
    const get = vi.spyOn(service.deps.uploadRecords, 'get')
    const upload = uploadIn(await service.create('a.txt', 10))
    expect((await service.patch(upload, 0, 'hello')).status).toBe(204)
    expect(get).not.toHaveBeenCalled()
    expect((await service.patch(upload, 0, 'hello')).status).toBe(409)
  })

  test('An append renews its lease, and others answer 423/104031 (U-21, E-51)', async () => {
    const service = await start(open)
    const { upload, body, appending } = await begin(service)
    await service.pass(4)
    expect(service.renew).not.toHaveBeenCalled()
    await service.pass(56)
    expect(service.renew).toHaveBeenCalledTimes(12)
    const refused = await service.patch(upload, 0, 'x')
    expect([...statusAndCode(refused), refused.headers['retry-after']]).toEqual([423, 104031, '5'])
    expect((await service.head(upload)).headers['upload-offset']).toBe('0')
    body.end('world')
    expect((await appending).status).toBe(204)
    await service.pass(20)
    expect(service.renew).toHaveBeenCalledTimes(12)
    expect(await service.read('/a.txt')).toBe('helloworld')
  })

  test.each([
    ['15 seconds after the last renewal', renewedLease, 6, 13],
    ['33 seconds after its beginning, if the lease is not renewed', { lasts: 33 * second }, 0, 32],
  ])('Another append can take over %s', async (_, lease, passed, frozen) => {
    const service = await start(open, lease)
    const { upload, body, appending } = await begin(service)
    await service.pass(passed)
    service.freeze(frozen)
    expect(await service.patch(upload, 0, 'x')).toMatchObject({ status: 423, headers: { 'retry-after': '1' } })
    service.freeze(1)
    expect((await service.patch(upload, 0, 'HELLO')).status).toBe(204)
    body.end('world')
    const late = await appending
    expect([423, 503]).toContain(late.status)
    expect(late.headers['retry-after']).toBe('1')
    expect((await service.head(upload)).headers['upload-offset']).toBe('5')
    await service.patch(upload, 5, 'WORLD')
    expect(await service.read('/a.txt')).toBe('HELLOWORLD')
  })

  test('The lease ends when the connection ends, and the next append continues at once', async () => {
    const service = await start(open)
    const { upload, body, appending } = await begin(service)
    await service.pass(30)
    body.breakOff()
    await appending
    expect((await service.head(upload)).headers['upload-offset']).toBe('5')
    expect((await service.patch(upload, 5, 'world')).status).toBe(204)
    expect(await service.read('/a.txt')).toBe('helloworld')
  })

  test.each([
    ['the durable bytes', {}, true],
    // The checksum is wrong, but only the last byte shows it.
    ['no bytes whose checksum may be wrong (U-22)', { checksum: `sha1 ${'A'.repeat(27)}=` }, false],
    ['no bytes that the quota does not count yet (S-122)', { length: undefined, quota: 24 * mebibyte }, false],
  ])('A renewed lease delays the expiry, and records %s (U-25)', async (_, options, isRecorded) => {
    const { checksum, quota, length } = { checksum: null, quota: undefined, length: 24 * mebibyte, ...options }
    const service = await start(open)
    const { site, stores, deps } = service
    await stores.usage.prepare(site, true)
    if (quota) await stores.sites.setQuota(site, quota, entry)
    const { append } = deps.uploadParts
    let stored: Durable | undefined
    Object.assign(deps.uploadParts, {
      append(...given: Parameters<typeof append>) {
        stored = given[3]
        return append(...given)
      },
    })
    const upload = uploadIn(await service.create('a.txt', length))
    const expiry = async () => Date.parse((await service.head(upload)).headers['upload-expires'] ?? '')
    const expires = await expiry()
    const body = openBody('x'.repeat(17 * mebibyte))
    const appending = service.patch(upload, 0, body.stream, { headers: { 'Upload-Checksum': checksum } })
    await expect.poll(() => stored?.size).toBeGreaterThan(0)
    await service.pass(5)
    expect(Number((await service.head(upload)).headers['upload-offset']) > 0).toBe(isRecorded)
    expect(await expiry()).toBeGreaterThan(expires)
    body.end('x')
    expect((await appending).status).toBe(checksum ? 460 : 204)
  })

  test.each([0, 9])('Bytes are dropped if the upload is cancelled after %i MiB (U-24)', async (stored) => {
    const service = await start(open)
    const upload = uploadIn(await service.create('a.txt', 24 * mebibyte))
    const [before, body] = ['x'.repeat(stored * mebibyte), openBody('hello')]
    if (stored > 0) await service.patch(upload, 0, before)
    const appending = service.patch(upload, before.length, body.stream)
    await body.arrived
    expect((await service.tus('DELETE', upload)).status).toBe(204)
    body.end(before)
    expect(statusAndCode(await appending)).toEqual([404, 104032])
    expect(await service.read('/a.txt')).toBe(404)
    expect(service.leftovers()).toBe(0)
  })
})

describe.each(storageHands)('The renewal of a lease: $name', ({ name, open }) => {
  test('The lease outlasts failed renewals until its time is over', async () => {
    const service = await start(open)
    service.renew.mockRejectedValue(new Error('The store is away'))
    const { upload, body, appending } = await begin(service)
    await service.pass(14)
    service.renew.mockReset()
    await service.pass(5)
    expect((await service.patch(upload, 0, 'x')).status).toBe(423)
    body.end('world')
    expect((await appending).status).toBe(204)
    expect(await service.read('/a.txt')).toBe('helloworld')
  })

  test('An append without renewals stops, and continues from the stored bytes', async () => {
    const service = await start(open)
    service.renew.mockRejectedValue(new Error('The store is away'))
    const { upload, body, appending } = await begin(service)
    await service.pass(15)
    body.end('wor')
    expect(await appending).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    // After this, one machine writes nothing. On AWS, the part of this append is already stored.
    const offset = Number((await service.head(upload)).headers['upload-offset'])
    expect(offset).toBe(name === 'AWS' ? 5 : 0)
    await service.patch(upload, offset, 'helloworld'.slice(offset))
    expect(await service.read('/a.txt')).toBe('helloworld')
  })

  test('The last bytes are recorded after a running renewal of the lease (U-19)', async () => {
    const calls: string[] = []
    const renewing = createGate()
    const service = await start(open)
    const { uploadParts, uploadRecords } = service.deps
    service.renew.mockImplementation(async () => {
      calls.push('renewal begins')
      await renewing.pass()
      calls.push('renewal ends')
      return true
    })
    const { advance } = uploadRecords
    vi.spyOn(uploadRecords, 'advance').mockImplementation((...given) => {
      calls.push('bytes are recorded')
      return advance(...given)
    })
    const { append } = uploadParts
    const stored = Promise.withResolvers<void>()
    Object.assign(uploadParts, {
      append: (...given: Parameters<typeof append>) => append(...given).finally(stored.resolve),
    })
    const { body, appending } = await begin(service)
    service.freeze(5)
    vi.advanceTimersByTime(5 * second)
    await renewing.reached
    body.end('world')
    await stored.promise
    // Without the wait for the renewal, the record would be written now.
    for (let turns = 0; turns < 20; turns++) await turn()
    renewing.open()
    expect((await appending).status).toBe(204)
    expect(calls).toEqual(['renewal begins', 'renewal ends', 'bytes are recorded'])
    expect(await service.read('/a.txt')).toBe('helloworld')
  })

  test('If the lease ends with the last bytes, the next request succeeds (U-29)', async () => {
    const service = await start(open)
    const { uploadRecords } = service.deps
    const { advance } = uploadRecords
    vi.spyOn(uploadRecords, 'advance').mockImplementationOnce(async (...given) => {
      const isHeld = await advance(...given)
      service.freeze(20)
      return isHeld
    })
    const upload = uploadIn(await service.create('a.txt', 10))
    expect((await service.patch(upload, 0, 'helloworld')).status).toBe(503)
    expect(await service.read('/a.txt')).toBe(404)
    expect((await service.head(upload)).headers['upload-offset']).toBe('10')
    expect(await service.read('/a.txt')).toBe('helloworld')
  })
})
