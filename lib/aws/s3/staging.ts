import { randomUUID } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { inParallel } from '../../in-parallel.ts'
import { partLength } from '../../storage/fingerprint.ts'
import type { StageTarget } from '../../storage/object-store.ts'
import { readAhead } from '../../storage/read-ahead.ts'
import { type Bucket, isMissing } from './bucket.ts'

/** What waits to be put in place: bytes in memory, or a multipart upload with all its parts, not completed. */
export interface StagedBody {
  readonly size: number
  readonly contentType: string
  /** Stands in the object's metadata, so that an object whose making was not confirmed is recognised. */
  readonly id: string
  readonly content:
    | { readonly kind: 'memory'; readonly bytes: Buffer }
    /** An object that is there, and is copied. */
    | { readonly kind: 'object'; readonly key: string }
    | { readonly kind: 'upload'; readonly key: string; readonly uploadId: string; readonly parts: CompletedPart[] }
}

/** Bytes that may wait in memory, for all requests together. */
interface MemoryBudget {
  /** Answers false when there is not so much left. */
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

const partsInFlight = 4

/** Where uploads go whose place is not known yet. A rule of the bucket clears away what a process that died has left there. */
const scratchPrefix = 'scratch/'
export const isScratch = (key: string): boolean => key.startsWith(scratchPrefix)

/** Cuts a stream into parts; the last one may be shorter, and there is at least one. What is shorter altogether goes up in one piece. */
async function* inParts(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let gathered: Uint8Array[] = []
  let length = 0
  for await (const chunk of content) {
    let rest = chunk
    while (length + rest.length > partLength) {
      const taken = partLength - length
      yield Buffer.concat([...gathered, rest.subarray(0, taken)], partLength)
      gathered = []
      length = 0
      rest = rest.subarray(taken)
    }
    gathered.push(rest)
    length += rest.length
  }
  yield Buffer.concat(gathered, length)
}

/** What the client checks the parts of an upload with: S3 wants it to be said when the upload begins, and to be told of each part's in the end. */
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

/** Sends content in parts, several at once, as it comes. Aborts the upload when a part fails, or when the content does. */
const uploadParts = async (
  bucket: Bucket,
  { key, uploadId }: { readonly key: string; readonly uploadId: string },
  content: AsyncIterable<Uint8Array>,
): Promise<{ parts: CompletedPart[]; size: number }> => {
  const sent: CompletedPart[] = []
  let size = 0
  let count = 0
  const send = async (Body: Buffer): Promise<void> => {
    size += Body.length
    count += 1
    const command = { Bucket: bucket.name, Key: key, UploadId: uploadId, PartNumber: count, Body }
    const { ETag, ChecksumCRC32 } = await bucket.client.send(new UploadPartCommand(command))
    sent.push({ PartNumber: command.PartNumber, ETag, ChecksumCRC32 })
  }
  try {
    await inParallel(inParts(content), partsInFlight, send)
    return { parts: sent.sort((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0)), size }
  } catch (error) {
    // No part is on its way any more: one that arrives after the abort would stay. The caller is told what failed first.
    await abortUpload(bucket, key, uploadId).catch(() => {})
    throw error
  }
}

/** Takes bytes in: what is small waits in memory while there is room, the rest goes up without becoming visible. */
export const stageBody = async (
  bucket: Bucket,
  memory: MemoryBudget,
  content: AsyncIterable<Uint8Array>,
  { key: target, contentType }: StageTarget,
): Promise<StagedBody> => {
  const id = randomUUID()
  const ahead = await readAhead(content, partLength)
  if (ahead.isWhole && memory.reserve(ahead.size)) {
    const bytes = Buffer.concat(ahead.gathered, ahead.size)
    return { size: ahead.size, contentType, id, content: { kind: 'memory', bytes } }
  }
  const key = target ?? `${scratchPrefix}${id}`
  const uploadId = await startUpload(bucket, key, contentType, id)
  const { parts, size } = await uploadParts(bucket, { key, uploadId }, ahead.content)
  return { size, contentType, id, content: { kind: 'upload', key, uploadId, parts } }
}
