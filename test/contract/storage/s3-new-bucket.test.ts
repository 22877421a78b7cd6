import { beforeEach, describe, expect, it } from 'vitest'
import type { Change, ObjectStore } from '../../../lib/storage/object-store.ts'
import { noRemovals, openBucketInMemory, openObjectStore } from '../../support/bucket.ts'
import { entry } from '../../support/history.ts'
import { keysIn, nowhere, stageObject } from '../../support/objects.ts'

/** A store over a bucket whose versioning has no effect yet: the answers of the bucket name no version. */
let store: ObjectStore
let isLockedSince = false
const removals = { ...noRemovals, isLockedSince: async () => isLockedSince }

beforeEach(() => {
  const opened = openBucketInMemory()
  isLockedSince = false
  const { handle } = opened.s3.requestHandler
  opened.s3.requestHandler.handle = async (request, options) => {
    const { response } = await handle(request, options)
    const { 'x-amz-version-id': _, ...headers } = response.headers
    return { response: { ...response, headers } }
  }
  store = openObjectStore(opened, { removals })
})

const place = (changes: readonly Change[]) => store.place(changes, nowhere, entry)
const putOf = async (key: string): Promise<Change> => ({ kind: 'put', key, staged: await stageObject(store, key, 'x') })
const keys = () => keysIn(store)

describe('A bucket whose versioning is not yet active', () => {
  it('Files can be stored', async () => {
    expect(await place([await putOf('live/a')])).toEqual({ outcome: 'placed' })
    expect(await keys()).toEqual(['live/a'])
  })

  it('A change that is undone removes its new folder, and keeps a file that may have replaced another file', async () => {
    isLockedSince = true
    const changes = [{ kind: 'folder', key: 'live/f/' } as const, await putOf('live/f/a')]
    expect(await place(changes)).toEqual({ outcome: 'locked' })
    expect(await keys()).toEqual(['live/f/a'])
  })

  it('A move, which could not be undone, is refused with 503', async () => {
    await place([await putOf('live/a')])
    const from = await store.find('live/a')
    if (!from) throw new Error('The source of the move is missing')
    await expect(place([{ kind: 'move', from, key: 'live/b' }])).rejects.toMatchObject({ code: 100503 })
    expect(await keys()).toEqual(['live/a'])
  })
})
