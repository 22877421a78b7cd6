import { describe, expect, test, vi } from 'vitest'
import { ServiceError } from '../../../lib/core/errors.ts'
import { storedPath } from '../../../lib/storage/path.ts'
import { entry } from '../../support/history.ts'
import { openStorageOnAws } from '../storage/hands.ts'
import { interruptChanges } from '../storage/interruption.ts'
import { openStorage, type StorageUnderTest } from '../storage/service.ts'
import { failCompletions, uploadIn } from './service.ts'

/** A service whose object store can fail to place files. */
const open = async () => {
  const service = await openStorage()
  return { ...service, placing: interruptChanges(service.deps.files) }
}

const away = () => Promise.reject(new ServiceError('unavailable'))

describe('Completing an upload while the store fails for a time', () => {
  test.each(['HEAD', 'PATCH'] as const)('%s tries again: 503 until the file is stored (U-29, S-87)', async (method) => {
    const service = await open()
    const upload = uploadIn(await service.create('a.txt', 5))
    service.placing.always(away)
    const again = () => (method === 'HEAD' ? service.head(upload) : service.patch(upload, 5, ''))
    for (const answer of [await service.patch(upload, 0, 'hello'), await again(), await again()]) {
      expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1', 'tus-resumable': '1.0.0' } })
      expect(answer.headers['upload-offset']).toBeUndefined()
    }
    expect(await service.read('/a.txt')).toBe(404)
    service.placing.end()
    const { status, headers } = await again()
    expect([status, headers['upload-offset']]).toEqual([method === 'HEAD' ? 200 : 204, '5'])
    expect(await service.read('/a.txt')).toBe('hello')
    const { json } = await service.callSite('GET', '/storage', { query: { status: '' } })
    expect(json).toMatchObject({ percent: 100 })
  })

  test('The file is stored in the same folder, even if a folder in another case appears', async () => {
    const service = await open()
    const upload = uploadIn(await service.create('a.txt', 5, { folder: '/folder' }))
    service.placing.always(away)
    await service.patch(upload, 0, 'hello')
    service.placing.end()
    await service.put('/FOLDER/b.txt', 'theirs')
    expect((await service.head(upload)).status).toBe(200)
    expect([await service.read('/folder/a.txt'), await service.read('/FOLDER/a.txt')]).toEqual(['hello', 404])
  })

  test('On a full disk, completing an upload answers 507, and may be repeated', async () => {
    const service = await open()
    const upload = uploadIn(await service.create('a.txt', 5))
    service.placing.always(() => Promise.reject(new ServiceError('outOfSpace')))
    expect((await service.patch(upload, 0, 'hello')).status).toBe(507)
    service.placing.end()
    expect((await service.head(upload)).status).toBe(200)
  })

  test('If the files of a request cannot be stored, nothing of them is left', async () => {
    const service = await open()
    service.placing.always(away)
    const before = service.leftovers()
    const headers = { 'Content-Type': 'application/offset+octet-stream' }
    const large = { name: 'c.txt', content: 'x'.repeat(200_000) }
    const answers = [
      await service.create('a.txt', 5, { body: 'hello', headers }),
      await service.create('b.txt', 0),
      await service.put('/c.txt', large.content),
      await service.post('', [large, large]),
    ]
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 400])
    expect(service.leftovers()).toBe(before)
  })
})

/**
 * A process dies right after it has placed a file, so the record of the upload does not name the placed version. The next
 * request of the upload completes it, and must not undo later changes of the file.
 */
describe('An upload that completed without being recorded on AWS', () => {
  const start = async () => {
    const service: StorageUnderTest = await openStorageOnAws()
    failCompletions(service.deps.uploadRecords, 1)
    const upload = uploadIn(await service.create('a.txt', 5))
    expect((await service.patch(upload, 0, 'hello')).status).toBe(503)
    expect(await service.read('/a.txt')).toBe('hello')
    return { ...service, upload }
  }

  test('The history has one entry for the upload (H-1)', async () => {
    const { head, callSite, upload } = await start()
    for (let times = 0; times < 2; times++) expect((await head(upload)).status).toBe(200)
    const { items } = (await callSite('GET', '/changes', { query: { after: '', limit: '9' } })).json
    expect(items.map(({ type }: { readonly type: string }) => type)).toEqual(['file.stored'])
  })

  test('A newer file at the path is not replaced, even after a thousand other versions', async () => {
    const { head, read, put, fill, site, upload } = await start()
    await fill?.(Array.from({ length: 1_000 }, () => `live/${site}/a.txt`))
    await put('/a.txt', 'newest')
    expect((await head(upload)).headers['upload-offset']).toBe('5')
    expect(await read('/a.txt')).toBe('newest')
  })

  test('A file that was moved away is not stored again', async () => {
    const { head, read, rename, upload } = await start()
    await rename('/a.txt', 'b.txt')
    expect((await head(upload)).status).toBe(200)
    expect([await read('/a.txt'), await read('/b.txt')]).toEqual([404, 'hello'])
  })
})

test('A completed upload needs no further call for its lease on AWS', async () => {
  const { deps, create, patch } = await openStorageOnAws()
  const giveBack = vi.spyOn(deps.uploadRecords, 'giveBack')
  expect((await patch(uploadIn(await create('a.txt', 5)), 0, 'hello')).status).toBe(204)
  expect(giveBack).not.toHaveBeenCalled()
})

test('A folder in NFD accepts uploads, and can be removed (S-9, S-95)', async () => {
  const service = await openStorageOnAws()
  const { site, stores } = service
  const folder = 'e\u0301'
  await service.fill?.([`live/${site}/${folder}/`, `live/${site}/${folder}/in/`])
  const upload = uploadIn(await service.create('a.txt', 5, { folder: '/\u00e9' }))
  expect((await service.patch(upload, 0, 'hello')).status).toBe(204)
  expect(await service.keys()).toEqual(['/', '/a.txt', '/in/'].map((name) => `live/${site}/${folder}${name}`))
  await stores.removals.open(site, storedPath(`${folder}/in`), 'removal', entry)
  expect((await service.remove('/\u00e9/in')).status).toBe(202)
})
