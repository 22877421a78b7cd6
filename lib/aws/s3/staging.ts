import { randomUUID } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { StageTarget } from '../../storage/object-store.ts'
import { type Bucket, isMissing } from './bucket.ts'

/** What waits to be put in place: bytes in memory, or a multipart upload with all its parts, not completed. */
export interface StagedBody {
  readonly size: number
  readonly contentType: string
  /** Stands in the object's metadata, so that an object whose making was not confirmed is recognised. */
  readonly id: string
  readonly content:
    | { readonly kind: 'memory'; readonly bytes: Buffer }
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

/** The length of a part in bytes: what is shorter altogether goes up in one piece. */
const partLength = 8 * 1024 * 1024
const partsInFlight = 4

/** Where uploads go whose place is not known yet. A rule of the bucket clears away what a process that died has left there. */
const scratchPrefix = 'scratch/'
export const isScratch = (key: string): boolean => key.startsWith(scratchPrefix)

/** Cuts a stream into parts; the last one may be shorter, and there is at least one. */
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

const startUpload = async ({ client, name }: Bucket, key: string, contentType: string, id: string): Promise<string> => {
  const { UploadId } = await client.send(
    new CreateMultipartUploadCommand({ Bucket: name, Key: key, ContentType: contentType, Metadata: { change: id } }),
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

/** Sends the parts, several at once, as they come. Aborts the upload when one fails, or when their source does. */
const uploadParts = async (
  bucket: Bucket,
  { key, uploadId }: { readonly key: string; readonly uploadId: string },
  parts: AsyncIterable<Buffer>,
): Promise<{ parts: CompletedPart[]; size: number }> => {
  const sent: CompletedPart[] = []
  const inFlight = new Set<Promise<void>>()
  const failures: unknown[] = []
  let size = 0
  let count = 0
  const send = async (PartNumber: number, Body: Buffer) => {
    try {
      const command = new UploadPartCommand({ Bucket: bucket.name, Key: key, UploadId: uploadId, PartNumber, Body })
      const { ETag } = await bucket.client.send(command)
      sent.push({ PartNumber, ETag })
    } catch (error) {
      failures.push(error)
    }
  }
  try {
    for await (const part of parts) {
      size += part.length
      count += 1
      const sending = send(count, part).finally(() => inFlight.delete(sending))
      inFlight.add(sending)
      if (inFlight.size >= partsInFlight) await Promise.race(inFlight)
      if (failures.length > 0) throw failures[0]
    }
    await Promise.all(inFlight)
    if (failures.length > 0) throw failures[0]
    return { parts: sent.sort((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0)), size }
  } catch (error) {
    // A part that arrives after the abort would stay.
    await Promise.all(inFlight)
    await abortUpload(bucket, key, uploadId)
    throw error
  }
}

async function* startingWith(first: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* first
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

/** Takes bytes in: what is small waits in memory while there is room, the rest goes up without becoming visible. */
export const stageBody = async (
  bucket: Bucket,
  memory: MemoryBudget,
  content: AsyncIterable<Uint8Array>,
  { key: target, contentType }: StageTarget,
): Promise<StagedBody> => {
  const id = randomUUID()
  const parts = inParts(content)
  const first = await parts.next()
  const bytes = first.done ? Buffer.alloc(0) : first.value
  const second = await parts.next()
  if (second.done && memory.reserve(bytes.length)) {
    return { size: bytes.length, contentType, id, content: { kind: 'memory', bytes } }
  }
  const key = target ?? `${scratchPrefix}${id}`
  const uploadId = await startUpload(bucket, key, contentType, id)
  const all = startingWith(second.done ? [bytes] : [bytes, second.value], parts)
  const { parts: sent, size } = await uploadParts(bucket, { key, uploadId }, all)
  return { size, contentType, id, content: { kind: 'upload', key, uploadId, parts: sent } }
}
