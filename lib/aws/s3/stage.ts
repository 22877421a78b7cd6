import { randomUUID } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { inParallel } from '../../core/in-parallel.ts'
import type { StageTarget } from '../../storage/object-store.ts'
import { type Bucket, isMissing, marked } from './bucket.ts'
import { inParts, type Lending, type Part, type PartBuffers } from './part-buffers.ts'

/** Staged bytes. A multipart upload has all its parts, but is not completed. */
export interface StagedBody {
  readonly size: number
  readonly contentType: string
  readonly id: string
  readonly content:
    | { readonly kind: 'memory'; readonly bytes: Buffer }
    | { readonly kind: 'object'; readonly key: string }
    | (Upload & {
        readonly kind: 'upload'
        readonly parts: CompletedPart[]
        // If a placement is undone, the bytes are kept at this key.
        readonly spare?: string
      })
}

export interface Upload {
  readonly key: string
  readonly uploadId: string
}

// Keys of uploads whose path is still unknown begin with this prefix. A lifecycle rule removes the objects that a
// crashed process leaves here.
const scratchPrefix = 'scratch/'
export const isScratch = (key: string): boolean => key.startsWith(scratchPrefix)

export const beginUpload = async (
  { client, name, options }: Bucket,
  goal: Omit<CreateMultipartUploadCommandInput, 'Bucket'>,
): Promise<string> => {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket: name, ...goal }), options)
  if (!UploadId) throw new Error('S3 began an upload without an id')
  return UploadId
}

/** S3 needs the algorithm at the start of an upload, and each checksum at its end. */
export const startUpload = (
  bucket: Bucket,
  { key, contentType, id }: Pick<StagedBody, 'contentType' | 'id'> & { readonly key: string },
  ChecksumAlgorithm: 'CRC32' | 'SHA256' = 'CRC32',
) => beginUpload(bucket, { Key: key, ...marked(contentType, id), ChecksumAlgorithm })

export const sendPart = async (
  { client, name }: Bucket,
  { key, uploadId }: Upload,
  number: number,
  bytes: Buffer,
): Promise<CompletedPart> => {
  const command = { Bucket: name, Key: key, UploadId: uploadId, PartNumber: number, Body: bytes }
  const { ETag, ChecksumCRC32 } = await client.send(new UploadPartCommand(command))
  return { PartNumber: number, ETag, ChecksumCRC32 }
}

export const abortUpload = async ({ client, name, options }: Bucket, { key, uploadId }: Upload): Promise<void> => {
  try {
    await client.send(new AbortMultipartUploadCommand({ Bucket: name, Key: key, UploadId: uploadId }), options)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

// This many parts at once use the full bandwidth of a function (1 Gbit/s).
const partsInFlight = 3

const sendParts = async (bucket: Bucket, upload: Upload, parts: AsyncIterable<Part>, lending: Lending) => {
  const sent: CompletedPart[] = []
  let size = 0
  let count = 0
  const send = async (part: Part): Promise<void> => {
    size += part.bytes.length
    count += 1
    const number = count
    sent[number - 1] = await lending.send(part, (bytes) => sendPart(bucket, upload, number, bytes))
  }
  try {
    await inParallel(parts, partsInFlight, send)
    return { parts: sent, size }
  } catch (error) {
    // The abort comes after the last part was sent, because a part that arrives after the abort would stay.
    await abortUpload(bucket, upload).catch(() => {})
    throw error
  }
}

export async function* together<Value>(first: Value, rest: AsyncIterable<Value>): AsyncGenerator<Value, void> {
  yield first
  yield* rest
}

/** Small bodies stay in memory while there is room. Other bodies are uploaded without becoming visible. */
export const stageBody = async (
  bucket: Bucket,
  { reserve, buffers }: { readonly reserve: (bytes: number) => boolean; readonly buffers: PartBuffers },
  content: AsyncIterable<Uint8Array>,
  { key: target, contentType }: StageTarget,
): Promise<StagedBody> => {
  using lending = buffers.open()
  const id = randomUUID()
  const parts = inParts(content, lending)
  const { value: first } = await parts.next()
  if (!first) throw new Error('Content has no part')
  const { bytes, buffer, isLast } = first
  if (isLast && reserve(bytes.length)) {
    const kept = Buffer.from(bytes)
    lending.giveBack(buffer)
    return { size: kept.length, contentType, id, content: { kind: 'memory', bytes: kept } }
  }
  const key = target ?? `${scratchPrefix}${id}`
  const upload = { key, uploadId: await startUpload(bucket, { key, contentType, id }) }
  const sent = await sendParts(bucket, upload, together(first, parts), lending)
  return { size: sent.size, contentType, id, content: { kind: 'upload', ...upload, parts: sent.parts } }
}
