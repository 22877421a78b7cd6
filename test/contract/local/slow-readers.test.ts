import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished } from 'vitest'
import { openBlobs } from '../../../lib/machine/objects/blobs.ts'
import { inPieces } from '../../support/in-pieces.ts'
import { hasOpen } from '../../support/program.ts'
import { test as base } from '../../support/test.ts'
import { listening } from '../server/listening.ts'
import { slowReader } from '../server/slow-reader.ts'

const kibibyte = 1024
const size = 16 * 1024 * kibibyte + 4321
const sentence = 'Bytes of a file, no two pieces of them alike. '
const content = Buffer.alloc(size, sentence)
const name = '0'.repeat(32)

/** Reads from a blob of 16 MiB. */
const test = base.extend('read', async ({ directory }, { onCleanup }) => {
  const blobs = openBlobs({ blobs: join(directory, 'blobs'), orphans: join(directory, 'orphans') }, { durable: false })
  onCleanup(() => blobs.close())
  await blobs.write(name, inPieces(content, size))
  return (first = 0, last = size - 1) => {
    const stream = blobs.read(name, size, { first, last })
    if (!stream) throw new Error('The blob is missing')
    onTestFinished(() => void stream.destroy())
    return stream
  }
})

const turn = () => new Promise(setImmediate)

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const mebibytesInBuffers = async (): Promise<number> => {
  // Buffers are freed only in the next turn of the event loop.
  await turn()
  collectGarbage()
  return process.memoryUsage().external / 1024 / kibibyte
}

test('a file is read only as far as its reader has asked', async ({ read }) => {
  const stream = read()
  const { value } = await stream[Symbol.asyncIterator]().next()
  for (let turns = 0; turns < 100; turns++) await turn()
  expect({ taken: value.length, ahead: stream.readableLength }).toEqual({ taken: 64 * kibibyte, ahead: 0 })
})

test('only one piece of a file is in memory while its reader pauses', async ({ read }) => {
  const before = await mebibytesInBuffers()
  const readers = Array.from({ length: 40 }, () => read()[Symbol.asyncIterator]())
  for (const reader of readers) for (let piece = 0; piece < 9; piece++) await reader.next()
  await expect.poll(mebibytesInBuffers).toBeLessThan(before + 40 / 16 + 1)
  for (const reader of readers) await reader.return?.()
})

test.for([
  [0, size - 1],
  [1, size - 2],
  [70_000, 70_000],
  [65_535, 131_072],
  [size - 70_000, size - 1],
] as const)('bytes %i to %i arrive whole at readers that pause now and then', async ([first, last], { read }) => {
  const pieces: Uint8Array[] = []
  for await (const piece of read(first, last)) {
    pieces.push(piece)
    if (pieces.length % 5 === 0) for (let turns = 0; turns < pieces.length % 3; turns++) await turn()
  }
  expect(Buffer.concat(pieces).equals(content.subarray(first, last + 1))).toBe(true)
})

test.runIf(process.platform === 'linux').for(['before its answer', 'during its answer'])(
  'a reader that disconnects %s releases the file',
  async (when, { read, directory }) => {
    const isOpen = () => hasOpen('self', join(directory, 'blobs', name))
    const going = Promise.withResolvers<void>()
    if (when === 'during its answer') going.resolve()
    const { server, records } = await listening(async () => {
      await going.promise
      return { status: 200, content: { type: 'a/b', length: size, bytes: read() } }
    })
    const reader = await slowReader(server)
    if (when === 'during its answer') {
      await reader.stalls()
      expect(isOpen()).toBe(true)
    }
    reader.leaves()
    await expect.poll(() => reader.served.destroyed).toBe(true)
    going.resolve()
    await expect.poll(() => records).toHaveLength(1)
    expect(records[0]).not.toHaveProperty('error')
    await expect.poll(isOpen).toBe(false)
  },
)
