import { beforeEach, describe, expect, it } from 'vitest'
import { createS3ObjectStore } from '../../../lib/aws/s3/s3-object-store.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { Change, ObjectStore } from '../../../lib/storage/object-store.ts'
import { noRemovals, openBucketInMemory } from '../../support/bucket.ts'
import { entry, unrecorded } from '../../support/history.ts'

/** A bucket whose versioning has no effect yet: at the SDK's transport, no answer names a version. */
let store: ObjectStore
let hasChanged = false
const removals = { ...noRemovals, look: async () => ({ isRemoving: false, hasChanged: async () => hasChanged }) }

beforeEach(() => {
  const opened = openBucketInMemory()
  hasChanged = false
  const { handle } = opened.s3.requestHandler
  opened.s3.requestHandler.handle = async (request, options) => {
    const { response } = await handle(request, options)
    const { 'x-amz-version-id': _, ...headers } = response.headers
    return { response: { ...response, headers } }
  }
  store = createS3ObjectStore({
    client: opened.connect(),
    once: opened.connect(1),
    bucket: 'memory',
    removals,
    record: unrecorded,
  })
})

const place = (changes: readonly Change[]) =>
  store.place(changes, { absent: [], unlocked: { site: 1 as SiteId, folders: [] } }, entry)
const putOf = async (key: string): Promise<Change> => {
  const content = (async function* () {
    yield Buffer.from('x')
  })()
  return { kind: 'put', key, staged: await store.stage(content, { key, contentType: 'text/plain' }) }
}
const keys = async () => (await store.list({ prefix: '', folded: false, limit: 10 })).objects.map(({ key }) => key)

describe('a bucket that keeps no versions yet', () => {
  it('takes files', async () => {
    expect(await place([await putOf('live/a')])).toEqual({ outcome: 'placed' })
    expect(await keys()).toEqual(['live/a'])
  })

  it('loses a new folder again that is taken back, and keeps a file that may have replaced one', async () => {
    hasChanged = true
    const changes = [{ kind: 'folder', key: 'live/f/' } as const, await putOf('live/f/a')]
    expect(await place(changes)).toEqual({ outcome: 'locked' })
    expect(await keys()).toEqual(['live/f/a'])
  })

  it('moves nothing, since no source could be brought back: 503', async () => {
    await place([await putOf('live/a')])
    const from = await store.find('live/a')
    if (!from) throw new Error('Nothing is there to be moved')
    await expect(place([{ kind: 'move', from, key: 'live/b' }])).rejects.toMatchObject({ code: 100503 })
    expect(await keys()).toEqual(['live/a'])
  })
})
