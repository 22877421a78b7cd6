import { describe, expect, onTestFinished, test } from 'vitest'
import { ServiceError } from '../../../lib/core/errors.ts'
import { uploadsHands } from './hands.ts'
import { uploadIn } from './service.ts'

/**
 * A process that dies right behind the placement: the file is there, and on AWS the record does not know it. What has
 * become of the file since must not be undone when that is decided.
 */
describe.each(uploadsHands)('a completion that nobody could write down: $name', ({ open }) => {
  const start = async () => {
    let dies = true
    const service = await open({
      between: ({ uploadRecords }) => ({
        uploadRecords: {
          ...uploadRecords,
          async complete(...given) {
            if (dies) throw new ServiceError('unavailable')
            return uploadRecords.complete(...given)
          },
        },
      }),
    })
    onTestFinished(service.close)
    const upload = uploadIn(await service.create('a.txt', 5))
    expect((await service.patch(upload, 0, 'hello')).status).toBe(503)
    expect(await service.content('a.txt')).toBe('hello')
    dies = false
    return { ...service, upload }
  }

  test('is known by what is there', async () => {
    const { head, content, upload } = await start()
    expect((await head(upload)).status).toBe(200)
    expect(await content('a.txt')).toBe('hello')
  })

  test('does not come over what has replaced the file since', async () => {
    const { head, content, call, upload } = await start()
    for (const body of ['newer', 'newest']) await call('PUT', '/storage/a.txt', { body })
    expect((await head(upload)).headers['upload-offset']).toBe('5')
    expect(await content('a.txt')).toBe('newest')
  })

  test('does not bring back a file that has been removed or moved since', async () => {
    const { head, content, call, upload } = await start()
    await call('PUT', '/storage/a.txt', { query: { meta: '' }, body: '{"name": "b.txt"}' })
    expect((await head(upload)).status).toBe(200)
    expect([await content('a.txt'), await content('b.txt')]).toEqual([undefined, 'hello'])
  })
})
