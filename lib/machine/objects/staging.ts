import { randomBytes } from 'node:crypto'
import { createFingerprint, createStagedContents, fingerprintOf, partLength, readAhead } from '../../storage/content.ts'
import type { Staged, StageTarget } from '../../storage/object-store.ts'
import type { Blobs } from './blobs.ts'

export interface StagedBlob extends Pick<Staged, 'size'> {
  readonly blob: string
  /** Undefined if the bytes are in a blob. */
  readonly bytes?: Uint8Array
  readonly contentType: string
  /** Null for large content: its fingerprint is computed after the bytes are placed. */
  readonly fingerprint: string | null
  /** Runs in the transaction that places the bytes. If this throws, the bytes are not placed. */
  readonly alongside?: () => void
}

export type AdoptedBlob = Omit<StagedBlob, 'bytes'>

/** The name of a blob, or of a version of an object. */
export const newName = (): string => randomBytes(16).toString('hex')

interface Options {
  readonly blobs: Blobs
  /**
   * In bytes. For small content the database is faster than a file, and makes the content durable together with its
   * row.
   */
  readonly smallContent: number
  /** In bytes, for all requests together. Beyond this, small content is written to blobs. */
  readonly mostWaiting: number
}

// A fingerprint of several parts is computed later.
const createMeasure = () => ({ size: 0, fingerprint: createFingerprint() })

type Content = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

async function* passOn(content: Content, measure: ReturnType<typeof createMeasure>) {
  for await (const chunk of content) {
    measure.size += chunk.length
    if (measure.size <= partLength) measure.fingerprint.update(chunk)
    yield chunk
  }
}

export const createStaging = ({ blobs, smallContent, mostWaiting }: Options) => {
  const { reserve, keep, of, take } = createStagedContents<StagedBlob>(mostWaiting, ({ bytes }) => bytes !== undefined)
  let comingIn = 0

  const keepOnDisk = async (content: Content, contentType: string): Promise<Staged> => {
    const blob = newName()
    const measure = createMeasure()
    const size = await blobs.write(blob, passOn(content, measure))
    const fingerprint = size > partLength ? null : measure.fingerprint.digest()
    return keep({ blob, size, contentType, fingerprint }, () => blobs.remove([blob]))
  }

  const stageContent = async (content: AsyncIterable<Uint8Array>, { contentType }: StageTarget): Promise<Staged> => {
    const ahead = await readAhead(content, smallContent)
    if (!ahead.isWhole) return keepOnDisk(ahead.content, contentType)
    const bytes = Buffer.concat(ahead.gathered, ahead.size)
    if (!reserve(bytes.length)) return keepOnDisk([bytes], contentType)
    return keep({ blob: newName(), size: bytes.length, contentType, fingerprint: fingerprintOf(bytes), bytes })
  }

  return {
    of,
    take,

    async stage(content: AsyncIterable<Uint8Array>, target: StageTarget): Promise<Staged> {
      comingIn += 1
      try {
        return await stageContent(content, target)
      } finally {
        comingIn -= 1
      }
    },

    adopt: (blob: AdoptedBlob): Staged => keep(blob),

    isBusy: () => comingIn > 0,
  }
}

export type Staging = ReturnType<typeof createStaging>
