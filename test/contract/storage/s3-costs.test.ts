import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createS3ObjectStore } from '../../../lib/aws/s3/s3-object-store.ts'
import { openBucketInMemory } from '../../support/bucket.ts'
import type { MemoryS3 } from '../../support/memory-s3.ts'
import { formHeaders, multipart, openStorage, type StorageUnderTest } from './service.ts'

let s3: MemoryS3
let storage: StorageUnderTest
/** Runs before every call to S3, and before every one to what would be a table. */
let asked = async () => {}

const asking =
  <Input extends readonly unknown[], Output>(call: (...input: Input) => Promise<Output>) =>
  async (...input: Input): Promise<Output> => {
    await asked()
    return call(...input)
  }
const removals = { watch: asking(async () => ({ isGoing: false, hasChanged: asking(async () => false) })) }

beforeEach(async () => {
  const opened = openBucketInMemory()
  s3 = opened.s3
  asked = async () => {}
  const files = createS3ObjectStore({ client: opened.connect(), once: opened.connect(1), bucket: 'memory', removals })
  storage = await openStorage({
    between: ({ workflows, removals: going, progress }) => ({
      files,
      workflows: { ...workflows, isRunning: asking(workflows.isRunning) },
      removals: { ...going, openOf: asking(going.openOf) },
      progress: { ...progress, begin: asking(progress.begin), report: asking(progress.report) },
    }),
  })
})
afterEach(() => storage.close())

/** Everything that is asked at once is one round: nobody is answered before nobody has anything else to ask. */
const inRounds = () => {
  const count = { calls: 0, rounds: 0 }
  let held: (() => void)[] = []
  let known = 0
  const release = async (): Promise<void> => {
    for (let seen = -1; seen !== known; ) {
      seen = known
      for (let turns = 0; turns < 10; turns++) await turn()
    }
    count.rounds += 1
    const all = held
    held = []
    for (const go of all) go()
  }
  asked = () => {
    known += 1
    return new Promise((resolve) => {
      held.push(resolve)
      if (held.length === 1) void release()
    })
  }
  s3.before = () => {
    count.calls += 1
    return asked()
  }
  return count
}

const upload = (folder: string, names: readonly string[]) =>
  storage.call('POST', folder, {
    headers: formHeaders,
    body: multipart(names.map((name) => ({ name, content: 'text' }))),
  })

const ifNone = { 'If-None-Match': '*' }
let tag: string
const replaceTagged = (path: string) => storage.call('PUT', path, { body: 'x', headers: { 'If-Match': tag } })

describe('what a request asks of S3, and in how many rounds of all stores', () => {
  const deep = `/${Array.from({ length: 449 }, () => 'a').join('/')}`

  it.each([
    ['PUT of a file into a folder', 5, 6, () => storage.call('PUT', '/f/new.txt', { body: 'x' })],
    ['PUT of a page with no draft', 6, 7, () => storage.call('PUT', '/f/page.html', { body: 'x' })],
    ['PUT of a file into a new folder', 7, 10, () => storage.call('PUT', '/new/new.txt', { body: 'x' })],
    ['POST of a file into a folder', 5, 7, () => upload('/f', ['new.txt'])],
    ['POST of ten files into a folder', 5, 16, () => upload('/f', [...'0123456789'])],
    ['PUT of a file that must be new', 5, 9, () => storage.call('PUT', '/f/new.txt', { body: 'x', headers: ifNone })],
    ['PUT onto a state that was read', 5, 8, () => replaceTagged('/f/old.txt')],
    ['PUT into a folder in a path of 450 segments', 5, 6, () => storage.call('PUT', `${deep}/b`, { body: 'x' })],
  ] as const)('%s: at most %i rounds and %i calls', async (name, rounds, calls, ask) => {
    await storage.call('PUT', '/f', { query: { type: 'folder' } })
    if (name.includes('450')) await storage.call('PUT', deep, { query: { type: 'folder' } })
    await storage.call('PUT', '/f/old.txt', { body: 'old' })
    tag = (await storage.call('HEAD', '/f/old.txt')).headers['ETag'] ?? ''
    const count = inRounds()
    expect((await ask()).statusCode).toBe(200)
    expect(count.rounds).toBeLessThanOrEqual(rounds)
    expect(count.calls).toBeLessThanOrEqual(calls)
  })
})
