import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { Stores } from '../../../lib/service/stores.ts'
import type { Upload } from '../../../lib/storage/uploads/upload.ts'
import type { Hand, OpenedHand } from '../../support/hands.ts'

type Tested = Pick<Stores, 'uploadRecords'>

const minute = 60_000
const now = Date.UTC(2026, 0, 1)

/** What every store of the records of uploads does, whatever it is made of. */
export const describeUploadRecords = ({ name, open }: Hand<Tested>): void => {
  describe(`the records of uploads: ${name}`, () => {
    let hand: OpenedHand<Tested>
    let records: Tested['uploadRecords']
    let passed = 0
    beforeAll(async () => {
      hand = await open({ wall: () => now + passed, monotonic: () => passed })
      records = hand.stores.uploadRecords
    })
    afterAll(() => hand.close())

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
    const created = async (members?: Partial<Upload>): Promise<Upload> => {
      const upload = newUpload(members)
      expect(await records.create(upload, 1_000, now)).toBe(true)
      return upload
    }
    const held = ({ holding }: Upload) => {
      if (!holding) throw new Error('Nothing is held')
      return holding
    }
    const progressOf = (upload: Upload, offset: number, more: Partial<Upload> = {}) => ({
      offset,
      length: more.length ?? upload.length,
      expires: more.expires ?? upload.expires,
      holding: held(upload),
    })

    test('come back as they were written, on every connection', async () => {
      const uploads = [await created(), await created({ length: null, metadata: '' })]
      for (const upload of uploads) {
        expect(await records.get(upload.id)).toEqual(upload)
        expect(await hand.connect().uploadRecords.get(upload.id)).toEqual(upload)
      }
    })

    test('of nothing are nothing', async () => {
      expect(await records.get('none')).toBeUndefined()
      expect(await records.take('none', 0, 'one', minute)).toEqual({ outcome: 'gone' })
      expect(await records.remove('none')).toBeUndefined()
      await records.giveBack('none', 'one')
      await records.complete('none', now)
      expect(await records.get('none')).toBeUndefined()
    })

    test('are as many as may be open for one user of one site (U-17)', async () => {
      const crowd = { user: 'crowd' }
      for (let open = 0; open < 3; open++) expect(await records.create(newUpload(crowd), 3, now)).toBe(true)
      const refused = newUpload(crowd)
      expect(await records.create(refused, 3, now)).toBe(false)
      expect(await records.get(refused.id)).toBeUndefined()
      expect(await records.create(newUpload({ user: 'other' }), 3, now)).toBe(true)
      expect(await records.create(newUpload({ ...crowd, site: 1002 as SiteId }), 3, now)).toBe(true)
    })

    test('do not count what is complete, gone or expired', async () => {
      const few = { user: 'few' }
      const complete = await created(few)
      const gone = await created(few)
      await created({ ...few, expires: now + minute })
      expect(await records.create(newUpload(few), 3, now)).toBe(false)
      await records.complete(complete.id, now + minute)
      expect(await records.create(newUpload(few), 3, now)).toBe(true)
      await records.remove(gone.id)
      expect(await records.create(newUpload(few), 3, now)).toBe(true)
      expect(await records.create(newUpload(few), 3, now)).toBe(false)
      expect(await records.create(newUpload(few), 3, now + minute)).toBe(true)
    })

    test('are taken by one at a time, until they are given back', async () => {
      const upload = await created()
      expect(await records.take(upload.id, 0, 'one', minute)).toEqual({ outcome: 'taken', upload })
      const second = await records.take(upload.id, 0, 'two', minute)
      expect(second).toMatchObject({ outcome: 'held' })
      expect('left' in second && second.left).toBeLessThanOrEqual(minute)
      await records.giveBack(upload.id, 'two')
      expect(await records.take(upload.id, 0, 'two', minute)).toMatchObject({ outcome: 'held' })
      await records.giveBack(upload.id, 'one')
      expect(await records.take(upload.id, 0, 'two', minute)).toMatchObject({ outcome: 'taken' })
    })

    test('are taken by one of several who want them at the same time', async () => {
      const upload = await created()
      const taken = await Promise.all(['a', 'b', 'c'].map((holder) => records.take(upload.id, 0, holder, minute)))
      expect(taken.map(({ outcome }) => outcome).sort()).toEqual(['held', 'held', 'taken'])
    })

    test('may be taken again when the time of the holder is over: he has them no more', async () => {
      const upload = await created()
      await records.take(upload.id, 0, 'one', minute)
      passed += minute - 1
      expect(await records.take(upload.id, 0, 'two', minute)).toMatchObject({ outcome: 'held' })
      passed += 1
      expect(await records.take(upload.id, 0, 'two', minute)).toMatchObject({ outcome: 'taken' })
      expect(await records.advance(upload.id, 'one', progressOf(upload, 5), true)).toBe(false)
      await records.giveBack(upload.id, 'one')
      expect(await records.take(upload.id, 0, 'three', minute)).toMatchObject({ outcome: 'held' })
      expect(await records.get(upload.id)).toMatchObject({ offset: 0 })
    })

    test('are their holder’s for so long after each renewal, also when nobody has come in between', async () => {
      const upload = await created()
      await records.take(upload.id, 0, 'one', minute)
      passed += minute - 1
      expect(await records.renew(upload.id, 'one', minute)).toBe(true)
      passed += minute - 1
      expect(await records.take(upload.id, 0, 'two', minute)).toEqual({ outcome: 'held', left: 1 })
      passed += 1
      expect(await records.renew(upload.id, 'one', minute)).toBe(true)
      expect(await records.take(upload.id, 0, 'two', minute)).toEqual({ outcome: 'held', left: minute })
    })

    test('are renewed for nobody who has them no more', async () => {
      const upload = await created()
      expect(await records.renew(upload.id, 'one', minute)).toBe(false)
      await records.take(upload.id, 0, 'one', minute)
      expect(await records.renew(upload.id, 'two', minute)).toBe(false)
      passed += minute
      await records.take(upload.id, 0, 'two', minute)
      expect(await records.renew(upload.id, 'one', minute)).toBe(false)
      await records.giveBack(upload.id, 'two')
      expect(await records.renew(upload.id, 'two', minute)).toBe(false)
      expect(await records.take(upload.id, 0, 'three', minute)).toMatchObject({ outcome: 'taken' })
      await records.remove(upload.id)
      expect(await records.renew(upload.id, 'three', minute)).toBe(false)
      expect(await records.renew('none', 'three', minute)).toBe(false)
      expect(await records.get(upload.id)).toBeUndefined()
    })

    test('hold what was noted when their holder renews, for whoever comes after him', async () => {
      const upload = await created({ length: null })
      await records.take(upload.id, 0, 'one', minute)
      const noted = progressOf(upload, 3, { length: 12, expires: now + 90 * minute })
      expect(await records.renew(upload.id, 'two', minute, progressOf(upload, 9))).toBe(false)
      expect(await records.renew(upload.id, 'one', minute, noted)).toBe(true)
      expect(await records.get(upload.id)).toMatchObject({ offset: 3, expires: noted.expires })
      expect(await records.renew(upload.id, 'one', minute)).toBe(true)
      passed += minute
      expect(await records.take(upload.id, 3, 'two', minute)).toMatchObject({ outcome: 'taken', upload: { offset: 3 } })
    })

    test('are taken at their offset alone', async () => {
      const upload = await created()
      expect(await records.take(upload.id, 3, 'one', minute)).toEqual({ outcome: 'moved' })
      expect(await records.take(upload.id, 0, 'one', minute)).toMatchObject({ outcome: 'taken' })
    })

    test('advance for their holder, who still has them', async () => {
      const upload = await created({ length: null })
      expect(await records.advance(upload.id, 'one', progressOf(upload, 5), true)).toBe(false)
      await records.take(upload.id, 0, 'one', minute)
      const progress = progressOf(upload, 5, { length: 12, expires: now + 90 * minute })
      expect(await records.advance(upload.id, 'two', progress, true)).toBe(false)
      expect(await records.advance(upload.id, 'one', progress, true)).toBe(true)
      expect(await records.get(upload.id)).toEqual({ ...upload, ...progress })
      expect(await records.take(upload.id, 5, 'two', minute)).toMatchObject({ outcome: 'held' })
      await records.giveBack(upload.id, 'one')
      expect(await records.take(upload.id, 5, 'two', minute)).toEqual({
        outcome: 'taken',
        upload: { ...upload, ...progress },
      })
    })

    test('may advance and be given back in one step', async () => {
      const upload = await created()
      await records.take(upload.id, 0, 'one', minute)
      expect(await records.advance(upload.id, 'one', progressOf(upload, 5), false)).toBe(true)
      expect(await records.advance(upload.id, 'one', progressOf(upload, 6), false)).toBe(false)
      expect(await records.take(upload.id, 5, 'two', minute)).toMatchObject({ outcome: 'taken' })
    })

    test('may note what is kept, but never fall back by it', async () => {
      const upload = await created()
      await records.take(upload.id, 0, 'one', minute)
      await records.renew(upload.id, 'one', minute, progressOf(upload, 3))
      await records.advance(upload.id, 'one', progressOf(upload, 5), true)
      await records.renew(upload.id, 'one', minute, progressOf(upload, 4))
      await records.renew(upload.id, 'two', minute, progressOf(upload, 9))
      expect(await records.get(upload.id)).toMatchObject({ offset: 5 })
    })

    test('are complete for good: nothing is held for them, and nobody takes them', async () => {
      const upload = await created()
      await records.complete(upload.id, now + 5)
      await records.complete(upload.id, now + 9)
      expect(await records.get(upload.id)).toEqual({ ...upload, isComplete: true, holding: null, expires: now + 5 })
      expect(await records.take(upload.id, 0, 'one', minute)).toEqual({ outcome: 'moved' })
      expect(await records.remove(upload.id)).toBeUndefined()
      expect(await records.get(upload.id)).toBeUndefined()
    })

    test('answer what was held for them when they are removed, once, also from under their holder', async () => {
      const upload = await created()
      await records.take(upload.id, 0, 'one', minute)
      expect(await records.remove(upload.id)).toEqual(held(upload))
      expect(await records.remove(upload.id)).toBeUndefined()
      expect(await records.advance(upload.id, 'one', progressOf(upload, 5), true)).toBe(false)
      expect(await records.renew(upload.id, 'one', minute, progressOf(upload, 5))).toBe(false)
      await records.complete(upload.id, now)
      await records.giveBack(upload.id, 'one')
      expect(await records.get(upload.id)).toBeUndefined()
    })
  })
}
