import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { UploadRecords } from '../../../lib/storage/uploads/upload-stores.ts'
import { type UploadsUnderTest, uploadIn, uploadsHands } from './service.ts'

describe.each(uploadsHands)('The last bytes of an upload: $name', ({ open }) => {
  let service: UploadsUnderTest
  let passed = 0
  const begun = Date.now()
  const start = async (change: (records: UploadRecords) => Partial<UploadRecords>) => {
    passed = 0
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    service = await open({
      clock: { wall: () => begun + passed, monotonic: () => passed },
      between: ({ uploadRecords }) => ({ uploadRecords: { ...uploadRecords, ...change(uploadRecords) } }),
    })
  }
  afterEach(async () => {
    vi.useRealTimers()
    await service.close()
  })

  test('The last bytes are recorded only after a running renewal of the lease has ended (U-19)', async () => {
    const calls: string[] = []
    const renewed = Promise.withResolvers<void>()
    await start((own) => ({
      async renew(...given) {
        calls.push('renewal begins')
        await renewed.promise
        calls.push('renewal ends')
        return own.renew(...given)
      },
      async advance(...given) {
        calls.push('bytes are recorded')
        return own.advance(...given)
      },
    }))
    const upload = uploadIn(await service.create('a.txt', 10))
    async function* body() {
      yield Buffer.from('hello')
      passed += 5_000
      vi.advanceTimersByTime(5_000)
      yield Buffer.from('world')
    }
    const appended = service.deps.uploadParts.append
    const { promise: stored, resolve } = Promise.withResolvers<void>()
    Object.assign(service.deps.uploadParts, {
      append: async (...given: Parameters<typeof appended>) => {
        const result = await appended(...given)
        resolve()
        return result
      },
    })
    const appending = service.patch(upload, 0, Readable.from(body(), { highWaterMark: 1 }))
    await stored
    // Without the wait for the renewal, the record would be written now.
    for (let turns = 0; turns < 20; turns++) await turn()
    renewed.resolve()
    expect((await appending).status).toBe(204)
    expect(calls).toEqual(['renewal begins', 'renewal ends', 'bytes are recorded'])
    expect(await service.content('a.txt')).toBe('helloworld')
  })

  test('If the lease of the upload has ended, the answer is 503 and the next request succeeds (U-29)', async () => {
    let stall = 20_000
    await start((own) => ({
      async advance(...given) {
        const isHeld = await own.advance(...given)
        passed += stall
        stall = 0
        return isHeld
      },
    }))
    const upload = uploadIn(await service.create('a.txt', 10))
    expect((await service.patch(upload, 0, 'helloworld')).status).toBe(503)
    expect(await service.content('a.txt')).toBeUndefined()
    expect((await service.head(upload)).headers['upload-offset']).toBe('10')
    expect(await service.content('a.txt')).toBe('helloworld')
  })
})
