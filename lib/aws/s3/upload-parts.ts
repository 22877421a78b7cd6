import { hash, randomUUID } from 'node:crypto'
import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { partLength } from '../../storage/fingerprint.ts'
import type { Staged } from '../../storage/object-store.ts'
import type { HeldUpload, UploadParts, WholeUpload } from '../../storage/uploads/upload-stores.ts'
import { type Bucket, isUploadGone, longCall, unquote } from './bucket.ts'
import { headObject, wasMadeBy } from './looking.ts'
import { createPartBuffers, type Lending, type PartBuffers } from './part-buffers.ts'
import { abortUpload, partChecksum, type StagedBody } from './staging.ts'

interface Deps {
  readonly bucket: Bucket
  readonly adopt: (body: StagedBody) => Staged
  // Shared by all uploads of the process.
  readonly buffers?: PartBuffers
}

const mostParts = 10_000

const partsInFlight = 4

// Here an upload becomes one object before it is copied into its place: another attempt finds it. A lifecycle rule
// clears it away.
const wholeKey = (id: string): string => `scratch/uploads/${id}/whole`

// S3 refuses signatures from a clock that is further off. In milliseconds.
const clockSkew = 15 * 60_000

const newTailKey = (id: string): string => `scratch/uploads/${id}/tail-${randomUUID()}`

const md5 = (bytes: Uint8Array): string => hash('md5', bytes, 'hex')

interface Part {
  readonly number: number
  readonly bytes: Buffer
}

interface Cut {
  // The bytes after the last part.
  readonly tail: Buffer
  readonly count: number
  // The whole has more than one part: a full part need not wait as a tail.
  readonly isLong: boolean
}

/**
 * Cuts a tail and new content into parts of exactly `partLength`. The rest is the next tail. Content that breaks off is
 * cut in the same way.
 */
const createCutter = (
  content: AsyncIterable<Uint8Array>,
  { tail, count, isLong }: Cut,
  lending: Pick<Lending, 'take'>,
) => {
  let filling: Buffer | undefined
  let length = 0
  let size = 0
  let number = count
  let failure: unknown

  const add = async (bytes: Uint8Array): Promise<void> => {
    filling ??= await lending.take()
    filling.set(bytes, length)
    length += bytes.length
  }
  const nextPart = (bytes: Buffer): Part => {
    number += 1
    filling = undefined
    length = 0
    return { number, bytes }
  }
  async function* parts(): AsyncGenerator<Part, void> {
    try {
      await add(tail)
      for await (const chunk of content) {
        size += chunk.length
        for (let rest = chunk; rest.length > 0; ) {
          if (filling && length === partLength) yield nextPart(filling)
          const taken = rest.subarray(0, partLength - length)
          await add(taken)
          rest = rest.subarray(taken.length)
        }
      }
    } catch (error) {
      failure = error
    }
    if (isLong && size > 0 && filling && length === partLength) yield nextPart(filling)
  }
  return {
    parts,
    end: () => ({
      size,
      rest: filling?.subarray(0, length) ?? Buffer.alloc(0),
      ...(failure !== undefined && { failure }),
    }),
  }
}

/** Counts numbers in any order, up to the first gap. */
const createRow = (count: number) => {
  const ahead = new Set<number>()
  let reached = count
  return {
    add(number: number): number {
      ahead.add(number)
      while (ahead.delete(reached + 1)) reached += 1
      return reached
    },
  }
}

/** The calls on the parts and the tail of one upload. */
const createPartCalls = ({ client, name: Bucket }: Bucket) => {
  // The parts of an upload. The SDK's paginator never ends: S3 sends a marker with the last page, too.
  const listParts = async (id: string, UploadId: string): Promise<CompletedPart[]> => {
    const found: CompletedPart[] = []
    let after: string | undefined
    do {
      const command = { Bucket, Key: wholeKey(id), UploadId, PartNumberMarker: after }
      const { Parts = [], IsTruncated, NextPartNumberMarker } = await client.send(new ListPartsCommand(command))
      found.push(...Parts.map(({ PartNumber, ETag, ChecksumCRC32 }) => ({ PartNumber, ETag, ChecksumCRC32 })))
      after = IsTruncated ? NextPartNumberMarker : undefined
    } while (after !== undefined && found.length < mostParts)
    return found
  }

  return {
    async readTail(tail: string | null, length: number): Promise<Buffer> {
      if (tail === null || length === 0) return Buffer.alloc(0)
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: tail }))
      const bytes = Buffer.from((await Body?.transformToByteArray()) ?? [])
      if (bytes.length < length) throw new Error(`The tail ${tail} has ${bytes.length} bytes instead of ${length}`)
      return bytes.subarray(0, length)
    },

    async startUpload({ id, target }: Pick<HeldUpload, 'id' | 'target'>): Promise<string> {
      const described = { ContentType: target.contentType, Metadata: { change: id }, ChecksumAlgorithm: partChecksum }
      const command = { Bucket, Key: wholeKey(id), ...described }
      const { UploadId } = await client.send(new CreateMultipartUploadCommand(command))
      if (!UploadId) throw new Error('S3 began an upload without an id')
      return UploadId
    },

    async sendPart(id: string, UploadId: string, { number, bytes }: Part): Promise<void> {
      const command = { Bucket, Key: wholeKey(id), UploadId, PartNumber: number, Body: bytes }
      await client.send(new UploadPartCommand(command))
    },

    // The parts to be joined. Errors: storageRefused, when a late call has overwritten one.
    async checkedParts(id: string, UploadId: string, kept: readonly string[]): Promise<CompletedPart[]> {
      const parts = (await listParts(id, UploadId)).slice(0, kept.length)
      if (parts.every(({ PartNumber, ETag }, index) => PartNumber === index + 1 && unquote(ETag) === kept[index])) {
        if (parts.length === kept.length) return parts
      }
      throw new ServiceError('storageRefused', {
        message: 'What was kept of the upload has been written over. Nothing was stored: begin a new one.',
      })
    },
  }
}

type PartCalls = ReturnType<typeof createPartCalls>

/**
 * Joins the parts and the tail to one object, unless an earlier attempt has. Errors: uploadUnknown, when the parts are
 * gone.
 */
const joinParts = async (
  bucket: Bucket,
  { readTail, sendPart, checkedParts }: PartCalls,
  { id, length, holding: { name, parts, tail } }: WholeUpload,
): Promise<void> => {
  if ((await headObject(bucket, wholeKey(id)))?.Metadata?.['change'] === id) return
  const rest = await readTail(tail, length - parts.length * partLength)
  const last = rest.length > 0 ? [md5(rest)] : []
  try {
    if (rest.length > 0) await sendPart(id, name, { number: parts.length + 1, bytes: rest })
    const MultipartUpload = { Parts: await checkedParts(id, name, [...parts, ...last]) }
    const command = { Bucket: bucket.name, Key: wholeKey(id), UploadId: name, MultipartUpload }
    await bucket.once.send(new CompleteMultipartUploadCommand(command), longCall)
  } catch (error) {
    throw isUploadGone(error) ? new ServiceError('uploadUnknown', { cause: error }) : error
  }
}

/**
 * The bytes of uploads in S3: parts of exactly 8 MiB of a multipart upload, and a tail, which each append writes under
 * a new key. A file of up to 8 MiB is a tail alone. `name` of a holding is the multipart upload; empty for none.
 */
export const createUploadParts = ({ bucket, adopt, buffers = createPartBuffers() }: Deps): UploadParts<Staged> => {
  const { client, name: Bucket } = bucket
  const calls = createPartCalls(bucket)
  const { readTail, startUpload, sendPart } = calls
  const tailOf = ({ length, holding }: WholeUpload): Promise<Buffer> => readTail(holding.tail, length)

  return {
    begin: async () => ({ name: '', parts: [], tail: null }),

    append: ({ id, target, length, holding }, offset, content, watch) =>
      buffers.lend(async (lending) => {
        const { parts } = holding
        const tail = await readTail(holding.tail, offset - parts.length * partLength)
        const isLong = length !== null && length > partLength
        const cutter = createCutter(content, { tail, count: parts.length, isLong }, lending)
        const sums = [...parts]
        const kept = createRow(parts.length)
        let name: Promise<string> | undefined = holding.name === '' ? undefined : Promise.resolve(holding.name)
        const sendOne = async (part: Part): Promise<void> => {
          sums[part.number - 1] = md5(part.bytes)
          name ??= startUpload({ id, target })
          const upload = await name
          // Late bytes could overwrite those of the next holder.
          if (watch.isOver()) throw new ServiceError('unavailable')
          await sendPart(id, upload, part)
          const count = kept.add(part.number)
          const size = count * partLength - offset
          if (size > 0) watch.kept(size, { name: upload, parts: sums.slice(0, count), tail: null })
        }
        await inParallel(cutter.parts(), partsInFlight, (part) => lending.use(part.bytes, () => sendOne(part)))
        const { size, rest, ...ended } = cutter.end()
        if (size === 0) return { size, holding, ...ended }
        const key = rest.length > 0 ? newTailKey(id) : null
        if (key) await client.send(new PutObjectCommand({ Bucket, Key: key, Body: rest }))
        return { size, holding: { name: (await name) ?? '', parts: sums, tail: key }, ...ended }
      }),

    // Only small uploads are read: a tail alone.
    async *read(upload) {
      yield await tailOf(upload)
    },

    isInPlace: ({ id, target, created }) => wasMadeBy(bucket, target.key, id, created - clockSkew),

    async whole(upload) {
      const { id, target, length, holding } = upload
      const body = { id, size: length, contentType: target.contentType }
      if (holding.parts.length === 0) {
        return adopt({ ...body, content: { kind: 'memory', bytes: await tailOf(upload) } })
      }
      await joinParts(bucket, calls, upload)
      return adopt({ ...body, content: { kind: 'object', key: wholeKey(id) } })
    },

    async remove({ id, holding: { name } }) {
      if (name !== '') await abortUpload(bucket, wholeKey(id), name)
    },
  }
}
