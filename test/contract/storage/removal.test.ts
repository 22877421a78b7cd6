import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parsePath } from '../../../lib/storage/path.ts'
import { continueRemoval } from '../../../lib/storage/remove.ts'
import { author, entry } from '../../support/history.ts'
import { codeOf, formHeaders, multipart, openStorage, renameTo, type StorageUnderTest } from './service.ts'

/** Less than what a request keeps for its answer: the time for a removal is up as soon as it has begun. */
const noTime = 1_000

describe('the removal of a folder with more files than one call deletes', () => {
  let storage: StorageUnderTest
  /** How many messages were in the queue when the removal came on record. */
  let sentBefore: number[]
  beforeEach(async () => {
    sentBefore = []
    storage = await openStorage({
      between: ({ removals }) => ({
        removals: {
          ...removals,
          open(...args) {
            sentBefore.push(storage.sent.length)
            return removals.open(...args)
          },
        },
      }),
    })
    for (let request = 0; request < 11; request++) {
      const parts = Array.from({ length: 100 }, (_, index) => ({ name: `${request}-${index}`, content: 'x' }))
      await storage.call('POST', '/large/below', { headers: formHeaders, body: multipart(parts) })
    }
  })
  afterEach(() => storage.close())

  const put = (path: string) => storage.call('PUT', path, { body: 'x' })
  const metaOf = (path: string) => storage.call('GET', path, { query: { meta: '' } })
  const finish = () => {
    const [task] = storage.sent
    if (!task) throw new Error('Nothing is in the queue')
    return continueRemoval(storage.deps, task, Number.POSITIVE_INFINITY)
  }

  it('is answered 200 when it is done in time, and what follows it is kept', async () => {
    expect((await storage.call('DELETE', '/large')).statusCode).toBe(200)
    expect((await metaOf('/large')).statusCode).toBe(404)
    expect((await put('/large/new')).statusCode).toBe(200)
    // The message that was sent in case that the request dies.
    expect(await finish()).toBe(true)
    expect((await storage.call('GET', '/large/new')).statusCode).toBe(200)
    expect(storage.leftovers()).toBe(0)
  })

  it('is answered 202 when it is not, and goes on from the queue', async () => {
    const { statusCode, body } = await storage.call('DELETE', '/large', { remaining: noTime })
    expect({ statusCode, body }).toEqual({ statusCode: 202, body: '{"status":"deleting"}' })
    expect(await finish()).toBe(true)
    expect((await metaOf('/large')).statusCode).toBe(404)
    expect(storage.leftovers()).toBe(0)
  })

  it('is in the queue before it is on record, so that it ends even if the request dies in between', async () => {
    await storage.call('DELETE', '/large', { remaining: noTime })
    expect(sentBefore).toEqual([1])
  })

  it('is in the queue once more when it is asked for once more, in case that its message was lost', async () => {
    await storage.call('DELETE', '/large', { remaining: noTime })
    const [first, ...others] = [...storage.sent]
    expect((await storage.call('DELETE', '/large')).statusCode).toBe(202)
    expect(storage.sent).toEqual([first, ...others, first])
  })

  it('goes on in slices, each of which may die', async () => {
    await storage.call('DELETE', '/large', { remaining: noTime })
    const [task] = storage.sent
    if (!task) throw new Error('Nothing is in the queue')
    const broken = {
      ...storage.deps,
      files: { ...storage.deps.files, remove: () => Promise.reject(new Error('died')) },
    }
    await put('/elsewhere')
    await expect(continueRemoval(broken, task, Number.POSITIVE_INFINITY)).rejects.toThrow('died')
    expect(await continueRemoval(storage.deps, task, Number.POSITIVE_INFINITY)).toBe(true)
    expect((await metaOf('/large')).statusCode).toBe(404)
  })

  it('keeps everything else out of the folder until it is gone: 104010', async () => {
    await put('/other')
    await storage.call('DELETE', '/large', { remaining: noTime })
    const answers = [
      await put('/large/new'),
      await put('/large/below/new'),
      await storage.call('POST', '/large', { headers: formHeaders, body: multipart([{ name: 'a', content: 'x' }]) }),
      await storage.call('PUT', '/large/folder', { query: { type: 'folder' } }),
      await storage.call('DELETE', '/large/below'),
      await renameTo(storage, '/large', 'x'),
      await renameTo(storage, '/large/below', 'x'),
      await renameTo(storage, '/other', 'large'),
    ]
    expect(answers.map(codeOf)).toEqual(answers.map(() => 104010))
    expect((await storage.call('DELETE', '/large')).statusCode).toBe(202)
    await finish()
    expect((await put('/large/new')).statusCode).toBe(200)
  })

  it('never takes along what came after it: late and repeated messages are harmless', async () => {
    await storage.call('DELETE', '/large', { remaining: noTime })
    await finish()
    await put('/large/new')
    for (const task of storage.sent)
      expect(await continueRemoval(storage.deps, task, Number.POSITIVE_INFINITY)).toBe(true)
    expect((await storage.call('GET', '/large/new')).statusCode).toBe(200)
  })

  it('takes back an upload that looked before it began and came while it went on', async () => {
    const { files } = storage.deps
    const path = parsePath('large')
    const late = {
      ...storage.deps,
      files: {
        ...files,
        async place(...args: Parameters<typeof files.place>) {
          await storage.deps.removals.open(storage.site, path, 'meanwhile', entry)
          return files.place(...args)
        },
      },
    }
    const { putFile } = await import('../../../lib/storage/put-file.ts')
    const content = (async function* () {
      yield Buffer.from('late')
    })()
    const putting = putFile(
      late,
      storage.site,
      parsePath('large/late'),
      false,
      { contentType: undefined, content },
      { author, remainingTime: () => Number.POSITIVE_INFINITY },
    )
    await expect(putting).rejects.toMatchObject({ code: 104010 })
    expect((await storage.call('GET', '/large/late')).statusCode).toBe(404)
    expect(storage.leftovers()).toBe(0)
  })
})
