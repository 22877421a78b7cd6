import { randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { partLength } from '../../../lib/storage/content.ts'
import type { Staged } from '../../../lib/storage/object-store.ts'
import type { Durable, Holding } from '../../../lib/storage/uploads/upload.ts'
import { openBucketInMemory } from '../../support/bucket.ts'
import { entry } from '../../support/history.ts'
import { inPieces } from '../../support/in-pieces.ts'
import { bytesIn, infoOf, nowhere, recorded } from '../../support/objects.ts'
import { openStorageOnAws, storageHands } from '../storage/hands.ts'
import type { StorageOptions } from '../storage/service.ts'

const mebibyte = 1024 * 1024

/** A random pattern, whose length is prime, so that no other part of the same bytes is equal. */
const anyBytes = (length: number) => Buffer.alloc(length, randomBytes(65_537))

const nothingYet = (holding: Holding): Durable => ({ size: 0, holding })
const neverOver = () => false

const withKms = openBucketInMemory({ encryptsWithKms: true })

const openWithKms = (options?: StorageOptions) => openStorageOnAws({ ...options, bucket: withKms })
const hands = [...storageHands, { name: 'AWS with KMS', open: openWithKms }]

/** The number of uploads. Each has its own file. */
let count = 0

const uploadsOf = async ({ name, open }: (typeof hands)[number]) => {
  const { site, deps } = await open({ closes: afterAll })
  const { files, uploadParts, uploadRecords } = deps

  const begin = async (length: number | null = null) => {
    count += 1
    const id = String(count).padStart(32, '0')
    const key = `live/${site}/file-${count}.bin`
    const target = { path: `file-${count}.bin`, asDraft: false, key, contentType: 'image/png' }
    const holding = await uploadParts.begin(target)
    const upload = { id, site, user: 'ann', target, metadata: '', created: 0, expires: 1, length, holding }
    await uploadRecords.create({ ...upload, limit: 100 * mebibyte, offset: 0, isComplete: false }, 1_000, 0)
    return upload
  }
  type Begun = Awaited<ReturnType<typeof begin>>

  const add = (upload: Begun, offset: number, bytes: Uint8Array, piece = 600_000, failure?: Error) =>
    uploadParts.append(upload, offset, inPieces(bytes, piece, failure), nothingYet(upload.holding), neverOver)
  /** Appends bytes in pieces, each in its own request. */
  const addAll = async (upload: Begun, bytes: Uint8Array, cut: number) => {
    let { holding } = upload
    for (let offset = 0; offset < bytes.length; offset += cut) {
      const piece = bytes.subarray(offset, offset + cut)
      const appended = await add({ ...upload, holding }, offset, piece)
      expect(appended).toMatchObject({ size: piece.length })
      expect(appended.failure).toBeUndefined()
      holding = appended.holding
    }
    return holding
  }
  const placeStaged = ({ target: { key } }: Begun, staged: Staged) =>
    recorded(files.place([{ kind: 'put', key, staged }], nowhere, entry))
  const place = async (upload: Begun, holding: Holding, length: number) => {
    const staged = await uploadParts.whole({ ...upload, holding, length })
    expect(staged.size).toBe(length)
    return placeStaged(upload, staged)
  }
  /** Completes the upload, and expects a file with exactly these bytes. */
  const expectFile = async (upload: Begun, holding: Holding, bytes: Buffer) => {
    expect(await place(upload, holding, bytes.length)).toEqual({ outcome: 'placed' })
    expect((await bytesIn(files, upload.target.key))?.equals(bytes)).toBe(true)
  }
  /** Appends the bytes from this offset, and expects a file with all bytes. */
  const expectRest = async (upload: Begun, held: Holding, offset: number, bytes: Buffer) => {
    const { holding } = await add({ ...upload, holding: held }, offset, bytes.subarray(offset))
    await expectFile(upload, holding, bytes)
  }
  /** The number of bytes that the store keeps together. One machine keeps all bytes of an upload together. */
  const part = name === 'one machine' ? 4 * mebibyte : partLength
  return { files, uploadParts, part, begin, add, addAll, placeStaged, place, expectFile, expectRest }
}

describe.each(hands)('The bytes of appends: $name', async (hand) => {
  const { files, uploadParts, part, begin, add, addAll, expectFile, expectRest } = await uploadsOf(hand)

  test.each([
    [0, 1, 'known'],
    [1_000, 400, 'unknown'],
    [part, part, 'unknown'],
    [2 * part + 7, Math.ceil(part / 1.9), 'known'],
  ])('%i bytes in appends of %i become the file (length %s at the start)', async (length, cut, declared) => {
    const upload = await begin(declared === 'known' ? length : null)
    const bytes = anyBytes(length)
    const holding = await addAll(upload, bytes, cut)
    await expectFile(upload, holding, bytes)
    expect(await infoOf(files, upload.target.key)).toMatchObject({ contentType: 'image/png' })
  })

  test.each([5, part + 5])('bytes stay when the body breaks off after %i bytes', async (length) => {
    const upload = await begin()
    const bytes = anyBytes(length + 10)
    const failure = new Error('The caller has gone')
    const broken = await add(upload, 0, bytes.subarray(0, length), 1_000_000, failure)
    expect(broken).toMatchObject({ size: length, failure })
    await expectRest(upload, broken.holding, length, bytes)
  })

  test.each([
    [part - 2, 100],
    [part + 5, part],
  ])('bytes after the recorded offset %i are overwritten by the next append', async (offset, length) => {
    const upload = await begin()
    const bytes = anyBytes(offset + length)
    const held = await addAll(upload, bytes.subarray(0, offset), part)
    // The record of the upload does not include this append.
    await add({ ...upload, holding: held }, offset, anyBytes(length + 100))
    await expectRest(upload, held, offset, bytes)
  })

  test.each([5, partLength + 5])('bytes after the %i of the upload do not become part of the file', async (length) => {
    const upload = await begin()
    const bytes = anyBytes(length)
    const holding = await addAll(upload, bytes, part)
    // The record of the upload does not include this append.
    await add({ ...upload, holding }, bytes.length, anyBytes(100))
    await expectFile(upload, holding, bytes)
  })

  test('bytes are reported while they arrive, so the next append continues from there', async () => {
    const upload = await begin()
    const bytes = anyBytes(2 * part + 100)
    const tail = await add(upload, 0, bytes.subarray(0, 5))
    const durable = nothingYet(tail.holding)
    const recorded: Durable[] = []
    async function* rest() {
      for await (const piece of inPieces(bytes.subarray(5), mebibyte)) {
        yield piece
        recorded.push({ ...durable })
      }
      await expect.poll(() => durable.size).toBeGreaterThan(0)
    }
    await uploadParts.append({ ...upload, holding: tail.holding }, 5, rest(), durable, neverOver)
    recorded.push({ ...durable })
    expect(recorded.map(({ size }) => size)).toEqual(recorded.map(({ size }) => size).toSorted((a, b) => a - b))
    const first = recorded.find(({ size }) => size > 0)
    if (!first) throw new Error('Nothing became durable')
    await expectRest(upload, first.holding, 5 + first.size, bytes)
  })

  test.runIf(hand.name === 'AWS with KMS')('bytes stay while only a later part has arrived (U-19)', async () => {
    const upload = await begin()
    const bytes = anyBytes(2 * part + 5)
    const { holding } = await add(upload, 0, bytes.subarray(0, 5))
    const durable = nothingYet(holding)
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    withKms.s3.before = async ({ query }) => {
      if (query?.['partNumber'] === '1') await first.promise
      if (query?.['partNumber'] === '2') second.resolve()
    }
    const rest = inPieces(bytes.subarray(5), mebibyte)
    const appending = uploadParts.append({ ...upload, holding }, 5, rest, durable, neverOver)
    await second.promise
    for (let turns = 0; turns < 50; turns++) await turn()
    const recorded = { ...durable }
    first.resolve()
    await appending
    await expectRest(upload, recorded.holding, 5 + recorded.size, bytes)
  })

  test('no byte is written after the time of the append has ended', async () => {
    const upload = await begin()
    const bytes = anyBytes(2 * part)
    let isOver = false
    async function* late() {
      yield anyBytes(part)
      const other = await add(upload, 0, bytes)
      isOver = true
      holding = other.holding
      yield anyBytes(part)
    }
    let { holding } = upload
    const appending = uploadParts.append(upload, 0, late(), nothingYet(holding), () => isOver)
    await expect(appending).rejects.toMatchObject({ name: 'ServiceError', status: 503 })
    await expectFile(upload, holding, bytes)
  })

  test('an append fails when the store fails', async () => {
    const upload = await begin()
    const gone = { ...upload, holding: { ...upload.holding, name: 'f'.repeat(32), tail: 'scratch/none' } }
    await expect(add(gone, 5, Buffer.from('hello'))).rejects.toThrow()
  })
})

describe.each(hands)('The file of an upload: $name', async (hand) => {
  const { files, uploadParts, part, begin, add, addAll, placeStaged, place } = await uploadsOf(hand)

  // Only S3 keeps parts, each with its entity tag.
  test.skipIf(hand.name === 'one machine')('an upload is refused if a late append changed a part', async () => {
    const upload = await begin()
    const begun = { ...upload, holding: await addAll(upload, anyBytes(part + 5), part + 5) }
    const { holding } = await add(begun, part + 5, anyBytes(part))
    await add(begun, part + 5, Buffer.alloc(part, 'late'))
    await expect(place(upload, holding, 2 * part + 5)).rejects.toMatchObject({ code: 104000 })
  })

  test.each([5, part + 5])('%i bytes become a file once, even if two requests complete it (U-29)', async (length) => {
    const upload = await begin()
    const whole = { ...upload, holding: await addAll(upload, anyBytes(length), part), length }
    const earlier = await uploadParts.whole(whole)
    const moved = await uploadParts.takeOver(whole)
    if (!moved) throw new Error('Nothing was placed yet')
    await place(upload, moved, length)
    await expect(placeStaged(upload, earlier)).rejects.toMatchObject({ status: 503 })
    expect((await files.versions(upload.target.key, { limit: 9 }))?.versions).toHaveLength(1)
  })

  test('bytes that were removed, even twice, do not become a file', async () => {
    const upload = await begin()
    const whole = { ...upload, holding: await addAll(upload, anyBytes(part + 5), part), length: part + 5 }
    for (const removed of [whole, whole, upload]) await uploadParts.remove(removed)
    await expect(uploadParts.whole(whole)).rejects.toMatchObject({ status: 404 })
  })
})
