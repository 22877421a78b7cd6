import { randomBytes } from 'node:crypto'
import {
  CreateBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutBucketVersioningCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Change, ObjectStore, Staged } from '../../../lib/storage/object-store.ts'
import { createS3ObjectStore } from '../../../lib/storage/s3/s3-object-store.ts'

const failure = () =>
  Object.assign(new Error('Internal'), { name: 'InternalError', $metadata: { httpStatusCode: 500 } })

/**
 * Clients of which one call fails: before it is sent, or after it was answered, so that nobody knows of what it did. What fails as a
 * whole is seen by the store at once; what fails on the wire is repeated by the client that repeats, as it is when deployed.
 */
const createFaultyClients = (where: 'as a whole' | 'on the wire') => {
  const client = new S3Client({ forcePathStyle: true, maxAttempts: where === 'on the wire' ? 3 : 1 })
  const once = new S3Client({ forcePathStyle: true, maxAttempts: 1 })
  let calls = 0
  let failing = 0
  let isAnswerLost = false
  const fault =
    <Input, Output>(next: (input: Input) => Promise<Output>) =>
    async (input: Input): Promise<Output> => {
      calls += 1
      const fails = calls === failing
      if (fails && !isAnswerLost) throw failure()
      const result = await next(input)
      if (fails) throw failure()
      return result
    }
  for (const { middlewareStack } of [client, once]) {
    if (where === 'on the wire') middlewareStack.add(fault, { step: 'deserialize' })
    else middlewareStack.add(fault, { step: 'initialize' })
  }
  return {
    client,
    once,
    arm(number: number, lost: boolean) {
      calls = 0
      failing = number
      isAnswerLost = lost
    },
    calls: () => calls,
  }
}

async function* one(content: Buffer): AsyncGenerator<Buffer> {
  yield content
}

const endpoint = process.env['AWS_ENDPOINT_URL']
if (!endpoint) console.warn('\nNO AWS_ENDPOINT_URL: the faults of the object store in S3 are SKIPPED.\n')

describe.skipIf(!endpoint).each(['as a whole', 'on the wire'] as const)(
  'when one call to S3 fails, or its answer is lost, %s',
  (where) => {
    const faulty = createFaultyClients(where)
    const bucket = `faults-${randomBytes(6).toString('hex')}`
    let store: ObjectStore

    beforeAll(async () => {
      faulty.arm(0, false)
      await faulty.client.send(new CreateBucketCommand({ Bucket: bucket }))
      const VersioningConfiguration = { Status: 'Enabled' } as const
      await faulty.client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }))
      store = createS3ObjectStore({ client: faulty.client, once: faulty.once, bucket })
    })

    const put = async (key: string, content: string) => {
      const staged = await store.stage(one(Buffer.from(content)), { key, contentType: 'text/plain' })
      const placed = await store.place([{ kind: 'put', key, staged }], [])
      if (placed.outcome === 'placed') await placed.settle()
    }
    const stateOf = async (prefix: string): Promise<string[]> => {
      faulty.arm(0, false)
      const { objects } = await store.list({ prefix, folded: false, limit: 100 })
      return objects.map(({ key, size }) => `${key.slice(prefix.length)} ${size}`)
    }
    const leftovers = async (): Promise<number> => {
      const { Uploads = [] } = await faulty.client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))
      const { Contents = [] } = await faulty.client.send(
        new ListObjectsV2Command({ Bucket: bucket, Prefix: 'scratch/' }),
      )
      return Uploads.length + Contents.length
    }

    /** An upload of a small and a large file, a rename, a draft that goes, and a folder, at once. */
    const change = async (prefix: string, end: 'settle' | 'undo' = 'settle'): Promise<void> => {
      const staged: Staged[] = []
      try {
        for (const [name, size] of [
          ['small', 10],
          ['large', 9 * 1024 * 1024],
        ] as const) {
          const target = { key: `${prefix}${name}`, contentType: 'a/b' }
          staged.push(await store.stage(one(Buffer.alloc(size)), target))
        }
        const from = await store.find(`${prefix}from`)
        if (!from) throw new Error('Nothing is there to be moved')
        const changes: Change[] = [
          ...staged.map(
            (one, index) => ({ kind: 'put', key: `${prefix}${index ? 'large' : 'small'}`, staged: one }) as const,
          ),
          { kind: 'move', from, key: `${prefix}to` },
          { kind: 'remove', key: `${prefix}draft` },
          { kind: 'folder', key: `${prefix}folder/` },
        ]
        const placed = await store.place(changes, [`${prefix}other`])
        if (placed.outcome === 'placed') await placed[end]()
      } catch (error) {
        for (const one of staged) await one.discard()
        throw error
      }
    }
    const prepare = async (prefix: string) => {
      for (const name of ['small', 'from', 'draft']) await put(`${prefix}${name}`, `old ${name}`)
    }

    it.each([
      ['fails', false],
      ['is lost', true],
    ])(
      'and it %s: what was there before is there again, no part stays, and a repetition succeeds',
      async (_, lost) => {
        const measure = `live/measure-${lost}/`
        await prepare(measure)
        const before = await stateOf(measure)
        await change(measure)
        const calls = faulty.calls()
        const after = await stateOf(measure)
        expect(after).not.toEqual(before)

        for (let number = 1; number <= calls; number++) {
          const prefix = `live/${lost}-${number}/`
          faulty.arm(0, false)
          await prepare(prefix)
          faulty.arm(number, lost)
          const isDone = await change(prefix).then(
            () => true,
            () => false,
          )
          const state = await stateOf(prefix)
          // A folder is no part of anything: it may stay, empty, when nobody knows that it was made.
          expect({ number, state: state.filter((line) => line !== 'folder/ 0') }).toEqual({
            number,
            state: (isDone ? after : before).filter((line) => line !== 'folder/ 0'),
          })
          expect({ number, leftovers: await leftovers() }).toEqual({ number, leftovers: lost ? expect.any(Number) : 0 })
          if (!isDone) await change(prefix)
          expect(await stateOf(prefix)).toEqual(after)
        }
      },
      300_000,
    )

    it('and it is lost, and the changes are taken back: what was there before is there again', async () => {
      await prepare('live/undone-0/')
      const before = await stateOf('live/undone-0/')
      faulty.arm(0, true)
      await change('live/undone-0/', 'undo')
      const calls = faulty.calls()
      for (let number = 1; number <= calls; number++) {
        const prefix = `live/undone-${number}/`
        faulty.arm(0, false)
        await prepare(prefix)
        faulty.arm(number, true)
        await change(prefix, 'undo').catch(() => {})
        const state = await stateOf(prefix)
        expect({ number, state: state.filter((line) => line !== 'folder/ 0') }).toEqual({ number, state: before })
      }
    }, 300_000)

    it('and a batch of removals fails in part: it is told, and a repetition removes the rest', async () => {
      for (const name of ['a', 'b', 'c']) await put(`live/batch/${name}`, name)
      const { objects } = await store.list({ prefix: 'live/batch/', folded: false, limit: 10 })
      const client = new S3Client({ forcePathStyle: true })
      client.middlewareStack.add(
        (next) => async (input) => {
          const result = await next(input)
          Object.assign(result.output, { Errors: [{ Key: 'live/batch/b', Code: 'SlowDown', Message: 'Slow down' }] })
          return result
        },
        { step: 'initialize' },
      )
      const partial = createS3ObjectStore({ client, once: client, bucket })
      await expect(partial.remove(objects)).rejects.toMatchObject({ name: 'SlowDown' })
      await store.remove(objects)
      expect(await stateOf('live/batch/')).toEqual([])
    })
  },
)
