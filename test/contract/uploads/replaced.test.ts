import { describe, expect, onTestFinished, test } from 'vitest'
import { ServiceError } from '../../../lib/core/errors.ts'
import type { Between } from '../../support/files.ts'
import { openStorageOnAws } from '../storage/hands.ts'
import { openUploads, uploadIn } from './service.ts'

/**
 * A process dies right after it has placed a file, so the record of the upload does not name the placed version. The next
 * request of the upload completes it, and must not undo later changes of the file.
 */
describe('An upload that completed without being recorded on AWS', () => {
  const start = async () => {
    let dies = true
    const between: Between = ({ uploadRecords }) => ({
      uploadRecords: {
        ...uploadRecords,
        async complete(...given) {
          if (dies) throw new ServiceError('unavailable')
          return uploadRecords.complete(...given)
        },
      },
    })
    const service = await openUploads({ between }, openStorageOnAws)
    onTestFinished(service.close)
    const upload = uploadIn(await service.create('a.txt', 5))
    expect((await service.patch(upload, 0, 'hello')).status).toBe(503)
    expect(await service.content('a.txt')).toBe('hello')
    dies = false
    return { ...service, upload }
  }

  test('The history has one entry for the upload (H-1)', async () => {
    const { head, call, upload } = await start()
    for (let times = 0; times < 2; times++) expect((await head(upload)).status).toBe(200)
    const { items } = (await call('GET', '/changes', { query: { after: '', limit: '9' } })).json
    expect(items.map(({ type }: { readonly type: string }) => type)).toEqual(['file.stored'])
  })

  test('A newer file at the path is not replaced', async () => {
    const { head, content, call, upload } = await start()
    for (const body of ['newer', 'newest']) await call('PUT', '/storage/a.txt', { body })
    expect((await head(upload)).headers['upload-offset']).toBe('5')
    expect(await content('a.txt')).toBe('newest')
  })

  test('A file that was moved away is not stored again', async () => {
    const { head, content, call, upload } = await start()
    await call('PUT', '/storage/a.txt', { query: { meta: '' }, body: '{"name": "b.txt"}' })
    expect((await head(upload)).status).toBe(200)
    expect([await content('a.txt'), await content('b.txt')]).toEqual([undefined, 'hello'])
  })
})
