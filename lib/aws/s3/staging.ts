import { randomUUID } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { inParallel } from '../../core/in-parallel.ts'
import type { StageTarget } from '../../storage/object-store.ts'
import { type Bucket, isMissing } from './bucket.ts'
import { inParts, type Lending, type Part, type PartBuffers } from './part-buffers.ts'

/** Bytes that wait to be put in place. A multipart upload has all its parts and is not completed. */
export interface StagedBody {
  readonly size: number
  readonly contentType: string
  // The mark in the object's metadata: its writer recognises it when the answer was lost.
  readonly id: string
  readonly content:
    | { readonly kind: 'memory'; readonly bytes: Buffer }
    // An existing object, to be copied.
    | { readonly kind: 'object'; readonly key: string }
    | { readonly kind: 'upload'; readonly key: string; readonly uploadId: string; readonly parts: CompletedPart[] }
}

interface MemoryBudget {
  // Answers false when there is too little left.
  reserve(bytes: number): boolean
  release(bytes: number): void
}

export const createMemoryBudget = (total: number): MemoryBudget => {
  let left = total
  return {
    reserve(bytes) {
      if (bytes > left) return false
      left -= bytes
      return true
    },
    release(bytes) {
      left += bytes
    },
  }
}

// They fill the line of a function (1 Gbit/s).
const partsInFlight = 3

// For uploads whose place is not known yet. A lifecycle rule clears away what a crashed process has left.
const scratchPrefix = 'scratch/'
export const isScratch = (key: string): boolean => key.startsWith(scratchPrefix)

// S3 wants the algorithm at the start of an upload, and each checksum at its end.
export const partChecksum = 'CRC32' as const

const startUpload = async ({ client, name }: Bucket, key: string, contentType: string, id: string): Promise<string> => {
  const { UploadId } = await client.send(
    new CreateMultipartUploadCommand({
      Bucket: name,
      Key: key,
      ContentType: contentType,
      Metadata: { change: id },
      ChecksumAlgorithm: partChecksum,
    }),
  )
  if (!UploadId) throw new Error('S3 began an upload without an id')
  return UploadId
}

export const abortUpload = async ({ client, name }: Bucket, key: string, uploadId: string): Promise<void> => {
  try {
    await client.send(new AbortMultipartUploadCommand({ Bucket: name, Key: key, UploadId: uploadId }))
  } catch (error) {
    // Completed or aborted before.
    if (!isMissing(error)) throw error
  }
}

/** Aborts the upload when a part or the source fails. */
const uploadParts = async (
  bucket: Bucket,
  { key, uploadId }: { readonly key: string; readonly uploadId: string },
  parts: AsyncIterable<Part>,
  lending: Lending,
): Promise<{ parts: CompletedPart[]; size: number }> => {
  const sent: CompletedPart[] = []
  let size = 0
  let count = 0
  const send = async ({ bytes, buffer }: Part): Promise<void> => {
    size += bytes.length
    count += 1
    const command = { Bucket: bucket.name, Key: key, UploadId: uploadId, PartNumber: count, Body: bytes }
    const { ETag, ChecksumCRC32 } = await lending.use(buffer, () => bucket.client.send(new UploadPartCommand(command)))
    sent.push({ PartNumber: command.PartNumber, ETag, ChecksumCRC32 })
  }
  try {
    await inParallel(parts, partsInFlight, send)
    return { parts: sent.sort((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0)), size }
  } catch (error) {
    // No part is on its way: one that arrives after the abort would stay.
    await abortUpload(bucket, key, uploadId).catch(() => {})
    throw error
  }
}

async function* together(first: Part, rest: AsyncGenerator<Part, void>): AsyncGenerator<Part, void> {
  yield first
  yield* rest
}

interface Room {
  // For small bodies until they are placed.
  readonly memory: MemoryBudget
  // For parts on their way to S3.
  readonly buffers: PartBuffers
}

/** Small bodies wait in memory while there is room. Others are uploaded without becoming visible. */
export const stageBody = (
  bucket: Bucket,
  { memory, buffers }: Room,
  content: AsyncIterable<Uint8Array>,
  { key: target, contentType }: StageTarget,
): Promise<StagedBody> =>
  buffers.lend(async (lending) => {
    const id = randomUUID()
    const parts = inParts(content, lending)
    const { value: first } = await parts.next()
    if (!first) throw new Error('Content has no part')
    const { bytes, buffer, isLast } = first
    if (isLast && memory.reserve(bytes.length)) {
      const kept = await lending.use(buffer, async () => Buffer.from(bytes))
      return { size: kept.length, contentType, id, content: { kind: 'memory', bytes: kept } }
    }
    const key = target ?? `${scratchPrefix}${id}`
    const uploadId = await startUpload(bucket, key, contentType, id)
    const sent = await uploadParts(bucket, { key, uploadId }, together(first, parts), lending)
    return { size: sent.size, contentType, id, content: { kind: 'upload', key, uploadId, parts: sent.parts } }
  })
