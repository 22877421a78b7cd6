import { randomUUID } from 'node:crypto'
import type { CompletedPart } from '@aws-sdk/client-s3'
import { ServiceError } from '../../core/errors.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { createStagedContents, partLength, together } from '../../storage/content.ts'
import type { Staged, StageTarget } from '../../storage/object-store.ts'
import type { Claim } from '../../storage/uploads/upload.ts'
import { abortUpload, type Bucket, beginUpload, marked, sendPart, type Upload } from './bucket.ts'

// Buffers and the small files in memory (32 MiB) take at most 192 MiB: each of the 16 requests of an environment fills
// one buffer, and four buffers are being sent.
const mostBuffers = 20

export const createPartBuffers = (most = mostBuffers) => {
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
  readonly contentType: string | undefined
  readonly id: string
  readonly claim?: Claim | undefined
  readonly content:
    | { readonly kind: 'memory'; readonly bytes: Buffer }
    | { readonly kind: 'object'; readonly key: string }
    | (Upload & {
        readonly kind: 'upload'
        readonly parts: CompletedPart[]
        readonly spare?: Spare
      })
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

// This many parts at once use the full bandwidth of a function (1 Gbit/s).
const partsInFlight = 3

/** Small bodies stay in memory while there is room. Other bodies are uploaded without becoming visible. */
export const createStaging = (bucket: Bucket, memory: number, buffers: PartBuffers) => {
  const bodies = createStagedContents<StagedBody>(memory, ({ content }) => content.kind === 'memory')
  const { reserve, keep } = bodies

  return {
    bodyOf: bodies.of,
    take: bodies.take,

    async stage(content: AsyncIterable<Uint8Array>, { key: target, contentType }: StageTarget): Promise<Staged> {
      using lending = buffers.open()
      const id = randomUUID()
      const source = inParts(content, lending)
      const { value: first } = await source.next()
      if (!first) throw new Error('Content has no part')
      const { bytes, buffer, isLast } = first
      if (isLast && reserve(bytes.length)) {
        const kept = Buffer.from(bytes)
        lending.giveBack(buffer)
        return keep({ size: kept.length, contentType, id, content: { kind: 'memory', bytes: kept } })
      }
      const key = target ?? `${scratchPrefix}${id}`
      const goal = { Key: key, ...marked(contentType, id), ChecksumAlgorithm: 'CRC32' } as const
      const upload = { key, uploadId: await beginUpload(bucket, goal) }
      const parts: CompletedPart[] = []
      let size = 0
      const send = async (part: Part): Promise<void> => {
        size += part.bytes.length
        parts[part.number - 1] = await lending.send(part, (sent) => sendPart(bucket, upload, part.number, sent))
      }
      try {
        await inParallel(together([first], source), partsInFlight, send)
      } catch (error) {
        // The abort comes after the last part was sent, because a part that arrives after the abort would stay.
        await abortUpload(bucket, upload).catch(() => {})
        throw error
      }
      const body: StagedBody = { size, contentType, id, content: { kind: 'upload', ...upload, parts } }
      return keep(body, () => abortUpload(bucket, upload))
    },

    // Accepts the body of a resumable upload. The quota already counts its bytes. The caller cleans up the body.
    // Errors: unavailable, when memory is full.
    adopt(body: StagedBody): Staged {
      if (body.content.kind === 'memory' && !reserve(body.size)) throw new ServiceError('unavailable')
      return keep(body, undefined, { reserved: body.size })
    },
  }
}
