import { expect, test } from 'vitest'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { Upload } from '../../../lib/storage/uploads/upload.ts'
import { describeOn, handsOfPorts, oneMachine, type TableStores } from '../../support/hands.ts'
import { entry } from '../../support/history.ts'

const minute = 60_000
const now = Date.UTC(2026, 0, 1)
/** No case waits until then. */
const later = now + 50 * minute

const tested = { kinds: handsOfPorts, clock: { wall: () => now, monotonic: () => 0 } }

let count = 0
const newUpload = (members: Partial<Upload> = {}): Upload => {
  count += 1
  return {
    id: String(count).padStart(32, '0'),
    site: 1001 as SiteId,
    user: 'ann',
    target: {
      path: 'a/ü 𝌆.txt',
      folder: 'a',
      keepsDraft: true,
      asDraft: false,
      key: 'live/1001/a/ü 𝌆.txt',
      contentType: 'text/plain',
      ifMatch: '"x"',
      ifNoneMatch: '*',
    },
    metadata: 'filename eA==,note',
    limit: 5 * 1024 ** 3,
    length: 10,
    offset: 0,
    isComplete: false,
    created: now,
    expires: now + 60 * minute,
    holding: { name: `blob-${count}`, parts: [], tail: null },
    ...members,
  }
}
const storeUpload = async (records: TableStores['uploadRecords'], members?: Partial<Upload>): Promise<Upload> => {
  const upload = newUpload(members)
  expect(await records.create(upload, 1_000, now)).toBe(true)
  return upload
}
const progressOf = ({ length, expires, holding }: Upload, offset: number) => {
  if (!holding) throw new Error('Nothing is held')
  return { offset, length, expires, holding }
}

describeOn({ ...tested, subject: 'the limit of open uploads' }, ({ stores, completeUpload }) => {
  const { uploadRecords: records } = stores

  test('each user of a site has a limit of open uploads (U-17)', async () => {
    const crowd = { user: 'crowd' }
    for (let open = 0; open < 3; open++) expect(await records.create(newUpload(crowd), 3, now)).toBe(true)
    const refused = newUpload(crowd)
    expect(await records.create(refused, 3, now)).toBe(false)
    expect(await records.get(refused.id)).toBeUndefined()
    expect(await records.create(newUpload({ user: 'other' }), 3, now)).toBe(true)
    expect(await records.create(newUpload({ ...crowd, site: 1002 as SiteId }), 3, now)).toBe(true)
  })

  test('complete, removed and expired uploads do not count toward the limit', async () => {
    const few = { user: 'few' }
    const complete = await storeUpload(records, few)
    const gone = await storeUpload(records, few)
    await storeUpload(records, { ...few, expires: later })
    expect(await records.create(newUpload(few), 3, now)).toBe(false)
    await completeUpload(complete.id, 'one', entry)
    expect(await records.create(newUpload(few), 3, now)).toBe(true)
    await records.remove(gone.id)
    expect(await records.create(newUpload(few), 3, now)).toBe(true)
    expect(await records.create(newUpload(few), 3, now)).toBe(false)
    expect(await records.create(newUpload(few), 3, later)).toBe(true)
  })
})

describeOn({ ...tested, subject: 'the lease of uploads' }, ({ stores: { uploadRecords: records } }) => {
  test('only one of several callers gets the lease, until that caller releases it', async () => {
    const upload = await storeUpload(records)
    const holders = ['a', 'b', 'c']
    const outcomes = await Promise.all(holders.map((holder) => records.take(upload.id, 0, holder, minute)))
    expect(outcomes.filter(({ outcome }) => outcome === 'taken')).toEqual([{ outcome: 'taken', upload }])
    const held = { outcome: 'held', left: minute }
    expect(outcomes.filter(({ outcome }) => outcome === 'held')).toEqual([held, held])
    await records.giveBack(upload.id, 'another')
    expect(await records.take(upload.id, 0, 'next', minute)).toEqual(held)
    await records.giveBack(upload.id, holders[outcomes.findIndex(({ outcome }) => outcome === 'taken')] ?? '')
    expect(await records.take(upload.id, 0, 'next', minute)).toMatchObject({ outcome: 'taken' })
  })

  test('only the owner can take the lease, and only before the upload expires', async () => {
    const upload = await storeUpload(records)
    const owner = { site: upload.site, user: upload.user, now: upload.expires - 1 }
    for (const other of [
      { ...owner, site: (upload.site + 1) as SiteId },
      { ...owner, user: 'another' },
      { ...owner, now: upload.expires },
    ]) {
      expect(await records.take(upload.id, 0, 'one', minute, other)).toEqual({ outcome: 'gone' })
    }
    expect(await records.take(upload.id, 0, 'one', minute, owner)).toMatchObject({ outcome: 'taken' })
  })

  test('a holder stores progress, and keeps the lease until the holder releases it', async () => {
    const upload = await storeUpload(records, { length: null })
    expect(await records.advance(upload.id, 'one', progressOf(upload, 5), true)).toBe(false)
    await records.take(upload.id, 0, 'one', minute)
    const progress = { ...progressOf(upload, 5), length: 12, expires: now + 90 * minute }
    expect(await records.advance(upload.id, 'two', progress, true)).toBe(false)
    expect(await records.renew(upload.id, 'two', minute)).toBe(false)
    expect(await records.advance(upload.id, 'one', progress, true)).toBe(true)
    await records.renew(upload.id, 'one', minute, progressOf(upload, 3))
    expect(await records.get(upload.id)).toEqual({ ...upload, ...progress })
    expect(await records.take(upload.id, 5, 'two', minute)).toMatchObject({ outcome: 'held' })
    const further = { ...progress, offset: 6 }
    expect(await records.advance(upload.id, 'one', further, false)).toBe(true)
    expect(await records.advance(upload.id, 'one', { ...progress, offset: 7 }, false)).toBe(false)
    expect(await records.take(upload.id, 6, 'two', minute)).toEqual({
      outcome: 'taken',
      upload: { ...upload, ...further },
    })
  })
})

describeOn({ ...tested, subject: 'complete or removed uploads' }, ({ stores, completeUpload }) => {
  const records = stores.uploadRecords

  test('a complete upload stays complete, without parts', async () => {
    const upload = await storeUpload(records)
    for (let times = 0; times < 2; times++) await completeUpload(upload.id, 'one', entry)
    expect(await records.advance(upload.id, 'one', progressOf(upload, 0), true)).toBe(false)
    const expires = now + 24 * 60 * minute
    expect(await records.get(upload.id)).toEqual({ ...upload, isComplete: true, holding: null, expires })
    expect(await records.take(upload.id, 0, 'one', minute)).toEqual({ outcome: 'moved' })
    expect(await records.remove(upload.id)).toMatchObject({ isComplete: true, holding: null })
    expect(await records.get(upload.id)).toBeUndefined()
  })
})

const onAws = handsOfPorts.filter((kind) => kind !== oneMachine)

describeOn({ ...tested, kinds: onAws, subject: 'claims of uploads' }, ({ stores, completeUpload }) => {
  test('only the first claim of an upload writes an entry (H-1)', async () => {
    const upload = await storeUpload(stores.uploadRecords)
    for (const holder of ['one', 'two']) await completeUpload(upload.id, holder, { ...entry, subject: holder })
    const changes = await stores.history.before(1001 as SiteId, undefined, 100)
    expect(changes.map(({ subject }) => subject)).toEqual(['one'])
  })
})
