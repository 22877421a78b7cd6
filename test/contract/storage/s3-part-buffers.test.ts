import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createPartBuffers } from '../../../lib/aws/s3/stage.ts'
import { partLength } from '../../../lib/storage/content.ts'
import type { ObjectStore } from '../../../lib/storage/object-store.ts'
import { entry } from '../../support/history.ts'
import { inPieces } from '../../support/in-pieces.ts'
import { bytesIn, nowhere } from '../../support/objects.ts'
import { openS3Bench } from './s3-bench.ts'

const chunkLength = 1024 * 1024

/** A store whose uploads share a number of buffers. Its bucket answers no part before `open`. */
const openStore = (most: number) => {
  const { s3, store } = openS3Bench({ buffers: createPartBuffers(most) })
  const gate = Promise.withResolvers<void>()
  let failures = 0
  s3.before = async ({ query }) => {
    if (query?.['partNumber'] === undefined) return
    await gate.promise
    if (failures > 0) {
      failures -= 1
      throw new Error('The connection broke')
    }
  }
  const failNext = (count: number) => {
    failures = count
  }
  return { store, open: gate.resolve, failNext }
}

/** This many chunks, each filled with one letter. */
const bytesOf = (chunks: number) =>
  Buffer.concat(
    Array.from({ length: chunks }, (_, index) => Buffer.alloc(chunkLength, 'a'.charCodeAt(0) + (index % 26))),
  )
const contentOf = (chunks: number) => inPieces(bytesOf(chunks), chunkLength)

/** Lets all pending work run. */
const settle = async () => {
  for (let turns = 0; turns < 50; turns++) await turn()
}

const stage = (store: ObjectStore, key: string, content: AsyncIterable<Uint8Array>) =>
  store.stage(content, { key, contentType: 'a/b' })

it('Uploads wait for a free buffer before they read, and all of them complete', async () => {
  const { store, open } = openStore(2)
  const read = { first: 0, second: 0 }
  const chunks = { first: 40, second: 20 }
  const putting = (['first', 'second'] as const).map(async (key) => {
    async function* counted() {
      for await (const chunk of contentOf(chunks[key])) {
        read[key] += 1
        yield chunk
      }
    }
    return { kind: 'put', key, staged: await stage(store, key, counted()) } as const
  })
  await settle()
  // Each upload is sending its buffer, and one more chunk waits.
  const inBuffer = partLength / chunkLength
  expect(read).toEqual({ first: inBuffer + 1, second: inBuffer + 1 })
  open()
  await store.place(await Promise.all(putting), nowhere, entry)
  expect((await bytesIn(store, 'first'))?.equals(bytesOf(40))).toBe(true)
  expect((await bytesIn(store, 'second'))?.equals(bytesOf(20))).toBe(true)
})

it('If the bucket fails, uploads that share all buffers fail, and free them', async () => {
  const { store, open, failNext } = openStore(2)
  const staging = ['first', 'second'].map((key) => stage(store, key, contentOf(30)))
  const failed = Promise.allSettled(staging)
  await settle()
  failNext(10)
  open()
  expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  failNext(0)
  await expect(stage(store, 'whole', contentOf(30))).resolves.toMatchObject({ size: 30 * chunkLength })
})

it('Uploads whose body breaks off free their buffers', async () => {
  const { store, open } = openStore(1)
  open()
  const breaking = inPieces(bytesOf(3), chunkLength, new Error('The caller has gone'))
  await expect(stage(store, 'broken', breaking)).rejects.toThrow('The caller has gone')
  await expect(stage(store, 'small', contentOf(1))).resolves.toMatchObject({ size: chunkLength })
})

it('Many small uploads need no buffers', async () => {
  const { store, open } = openStore(1)
  open()
  const names = Array.from({ length: 30 }, (_, index) => `small-${index}`)
  const staged = await Promise.all(names.map((name) => stage(store, name, contentOf(1))))
  expect(staged.map(({ size }) => size)).toEqual(names.map(() => chunkLength))
})
