import { describe, expect, onTestFinished, test } from 'vitest'
import { ServiceError } from '../../../lib/core/errors.ts'
import { uploadIn, uploadsHands } from './service.ts'

/**
 * A process dies right after the placement, so on AWS the record of the upload does not know its file. The next request
 * decides, and must not undo later changes of the file.
 */
describe.each(uploadsHands)('A completion that was not recorded: $name', ({ open }) => {
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

  test('The existing file proves the completion', async () => {
    const { head, content, upload } = await start()
    expect((await head(upload)).status).toBe(200)
    expect(await content('a.txt')).toBe('hello')
  })

  test('A newer file is not replaced', async () => {
    const { head, content, call, upload } = await start()
    for (const body of ['newer', 'newest']) await call('PUT', '/storage/a.txt', { body })
    expect((await head(upload)).headers['upload-offset']).toBe('5')
    expect(await content('a.txt')).toBe('newest')
  })

  test('A file that was moved away does not come back', async () => {
    const { head, content, call, upload } = await start()
    await call('PUT', '/storage/a.txt', { query: { meta: '' }, body: '{"name": "b.txt"}' })
    expect((await head(upload)).status).toBe(200)
    expect([await content('a.txt'), await content('b.txt')]).toEqual([undefined, 'hello'])
  })
})
