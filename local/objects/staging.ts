import type { ObjectStore, Staged } from '../../lib/storage/object-store.ts'
import { readAhead } from '../../lib/storage/read-ahead.ts'
import type { Blobs } from './blobs.ts'
import { newName, type StagedBlob } from './place-changes.ts'

interface Options {
  readonly blobs: Blobs
  /** Up to this size content is kept in the database: quicker than a file, and made durable with its row. In bytes. */
  readonly smallContent: number
  /** How much small content waits in memory, that of all requests together, before more of it goes into blobs. In bytes. */
  readonly mostWaiting: number
}

/** Bytes that have come in and are not in place yet. */
export interface Staging {
  readonly stage: ObjectStore['stage']
  of(staged: Staged): StagedBlob
  /** Forgets what has been put in place. */
  placed(staged: Staged): void
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

export const createStaging = ({ blobs, smallContent, mostWaiting }: Options): Staging => {
  const waiting = new Map<Staged, StagedBlob>()
  let inMemory = 0

  /** Answers whether it was still waiting. */
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

  return {
    async stage(content, { contentType }) {
      const blob = newName()
      const ahead = await readAhead(content, smallContent)
      if (!ahead.isWhole) return keep({ blob, size: await blobs.write(blob, ahead.content), contentType })
      const bytes = Buffer.concat(ahead.gathered, ahead.size)
      if (inMemory + bytes.length <= mostWaiting) return keep({ blob, size: bytes.length, contentType, bytes })
      return keep({ blob, size: await blobs.write(blob, only(bytes)), contentType })
    },

    of(staged) {
      const found = waiting.get(staged)
      if (!found) throw new Error('These bytes do not wait in this store')
      return found
    },

    placed: (staged) => void forget(staged),
  }
}
