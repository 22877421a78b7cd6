import { randomUUID } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { inParallel } from '../../core/in-parallel.ts'
import { partLength, together } from '../../storage/content.ts'
import type { StageTarget } from '../../storage/object-store.ts'
import { type Bucket, isMissing, marked } from './bucket.ts'

// Buffers and the small files in memory (32 MiB) take at most 192 MiB: each of the 16 requests of an environment fills
// one buffer, and four buffers are being sent.
const mostParts = 20

export const createPartBuffers = (most = mostParts) => {
  type Place = Buffer | undefined
  const places: Place[] = Array.from({ length: most })
  const waiting: ((place: Place) => void)[] = []
  const free = (place: Place): void => {
    const next = waiting.shift()
    if (next) next(place)
    else places.push(place)
  }

  return {
    /** The buffers of one upload. An upload must not wait for a second buffer while it keeps a filled one. */
    open() {
      const lent = new Set<Buffer>()
      let hasFailed = false
      const giveBack = (buffer: Buffer): void => {
        if (lent.delete(buffer)) free(buffer)
      }
      return {
        async take(): Promise<Buffer> {
          const place = places.length > 0 ? places.pop() : await new Promise<Place>((resolve) => waiting.push(resolve))
          if (hasFailed) {
            free(place)
            throw new Error('No buffer for an upload whose part was not sent')
          }
          const buffer = place ?? Buffer.allocUnsafeSlow(partLength)
          lent.add(buffer)
          return buffer
        },
        giveBack,
        /**
         * Gives the buffer back after the call. If the call fails, the place of the buffer is free at once, because other
         * uploads wait for it. The buffer is not reused, because the failed call may still be sending from it. The upload
         * gets no more buffers.
         */
        async send<Sent>({ bytes, buffer }: Part, call: (bytes: Buffer) => Promise<Sent>): Promise<Sent> {
          try {
            const sent = await call(bytes)
            giveBack(buffer)
            return sent
          } catch (error) {
            hasFailed = true
            if (lent.delete(buffer)) free(undefined)
            throw error
          }
        },
        [Symbol.dispose](): void {
          for (const _ of lent) free(undefined)
        },
      }
    },
  }
}

export type PartBuffers = ReturnType<typeof createPartBuffers>
type Lending = ReturnType<PartBuffers['open']>

export interface Part {
  readonly number: number
  readonly bytes: Buffer
  readonly buffer: Buffer
  readonly isLast: boolean
}

export async function* inParts(content: AsyncIterable<Uint8Array>, lending: Lending): AsyncGenerator<Part, void> {
  let buffer = await lending.take()
  let [number, length] = [1, 0]
  for await (const chunk of content) {
    let rest = chunk
    // A full part is treated as the last one until more bytes arrive.
    while (length + rest.length > partLength) {
      const taken = partLength - length
      buffer.set(rest.subarray(0, taken), length)
      yield { number, bytes: buffer, buffer, isLast: false }
      buffer = await lending.take()
      ;[number, length] = [number + 1, 0]
      rest = rest.subarray(taken)
    }
    buffer.set(rest, length)
    length += rest.length
  }
  yield { number, bytes: buffer.subarray(0, length), buffer, isLast: true }
}

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
        readonly spare?: Spare
      })
}

export interface Upload {
  readonly key: string
  readonly uploadId: string
}

// The bytes of a completed upload exist nowhere else, so undoing its placement copies them to this key.
export interface Spare {
  readonly key: string
  readonly size: number
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
  const send = async (part: Part): Promise<void> => {
    size += part.bytes.length
    sent[part.number - 1] = await lending.send(part, (bytes) => sendPart(bucket, upload, part.number, bytes))
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
  const sent = await sendParts(bucket, upload, together([first], parts), lending)
  return { size: sent.size, contentType, id, content: { kind: 'upload', ...upload, parts: sent.parts } }
}
