import { randomBytes } from 'node:crypto'
import { createFingerprint, fingerprintOf, partLength } from '../../storage/fingerprint.ts'
import type { Staged, StageTarget } from '../../storage/object-store.ts'
import { readAhead } from '../../storage/read-ahead.ts'
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

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

// A fingerprint of several parts is computed later.
const createMeasure = () => ({ size: 0, fingerprint: createFingerprint() })

async function* passOn(content: AsyncIterable<Uint8Array>, measure: ReturnType<typeof createMeasure>) {
  for await (const chunk of content) {
    measure.size += chunk.length
    if (measure.size <= partLength) measure.fingerprint.update(chunk)
    yield chunk
  }
}

export const createStaging = ({ blobs, smallContent, mostWaiting }: Options) => {
  const waiting = new Map<Staged, StagedBlob>()
  let inMemory = 0
  let comingIn = 0

  const forget = (staged: Staged): boolean => {
    inMemory -= waiting.get(staged)?.bytes?.length ?? 0
    return waiting.delete(staged)
  }

  const keep = (staged: StagedBlob): Staged => {
    const { size, bytes, blob } = staged
    const kept: Staged = {
      size,
      async discard() {
        if (forget(kept) && !bytes) await blobs.remove([blob])
      },
    }
    waiting.set(kept, staged)
    inMemory += bytes?.length ?? 0
    return kept
  }

  const keepOnDisk = async (content: AsyncIterable<Uint8Array>, contentType: string): Promise<Staged> => {
    const blob = newName()
    const measure = createMeasure()
    const size = await blobs.write(blob, passOn(content, measure))
    return keep({ blob, size, contentType, fingerprint: size > partLength ? null : measure.fingerprint.digest() })
  }

  const stageContent = async (content: AsyncIterable<Uint8Array>, { contentType }: StageTarget): Promise<Staged> => {
    const ahead = await readAhead(content, smallContent)
    if (!ahead.isWhole) return keepOnDisk(ahead.content, contentType)
    const bytes = Buffer.concat(ahead.gathered, ahead.size)
    if (inMemory + bytes.length > mostWaiting) return keepOnDisk(only(bytes), contentType)
    return keep({ blob: newName(), size: bytes.length, contentType, fingerprint: fingerprintOf(bytes), bytes })
  }

  return {
    async stage(content: AsyncIterable<Uint8Array>, target: StageTarget): Promise<Staged> {
      comingIn += 1
      try {
        return await stageContent(content, target)
      } finally {
        comingIn -= 1
      }
    },

    /** If the blob is not placed, it stays, and the caller removes it. */
    adopt(blob: AdoptedBlob): Staged {
      const kept: Staged = { size: blob.size, discard: async () => void waiting.delete(kept) }
      waiting.set(kept, blob)
      return kept
    },

    isBusy: () => comingIn > 0,

    of(staged: Staged): StagedBlob {
      const found = waiting.get(staged)
      if (!found) throw new Error('This store has not staged these bytes')
      return found
    },

    /** Forgets the bytes that were placed. */
    take(staged: Staged): StagedBlob | undefined {
      const found = waiting.get(staged)
      forget(staged)
      return found
    },
  }
}

export type Staging = ReturnType<typeof createStaging>
