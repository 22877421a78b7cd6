import { createHash, hash } from 'node:crypto'
import type { Staged } from './object-store.ts'

/**
 * In bytes. A file larger than this has several parts in S3 and in its fingerprint (S-82, S-83). A template in a resumable
 * upload must fit into one part (U-13).
 */
export const partLength = 8 * 1024 * 1024

export const createFingerprint = () => {
  const whole: Buffer[] = []
  let part = createHash('md5')
  let length = 0

  return {
    update(chunk: Uint8Array): void {
      for (let rest = chunk; rest.length > 0; ) {
        if (length === partLength) {
          whole.push(part.digest())
          part = createHash('md5')
          length = 0
        }
        const taken = rest.subarray(0, partLength - length)
        part.update(taken)
        length += taken.length
        rest = rest.subarray(taken.length)
      }
    },

    digest(): string {
      if (whole.length === 0) return part.digest('hex')
      const parts = [...whole, part.digest()]
      return `${hash('md5', Buffer.concat(parts), 'hex')}-${parts.length}`
    },
  }
}

export const fingerprintOf = (bytes: Uint8Array): string => {
  const making = createFingerprint()
  making.update(bytes)
  return making.digest()
}

export async function* together<Value>(first: Iterable<Value>, rest: AsyncIterable<Value>) {
  yield* first
  yield* rest
}

export const readAhead = async (content: AsyncIterable<Uint8Array>, limit: number) => {
  const source = content[Symbol.asyncIterator]()
  const gathered: Uint8Array[] = []
  let size = 0
  let next = await source.next()
  while (!next.done) {
    gathered.push(next.value)
    size += next.value.length
    if (size > limit) break
    next = await source.next()
  }
  return {
    gathered,
    size,
    isWhole: next.done === true,
    content: together(gathered, { [Symbol.asyncIterator]: () => source }),
  }
}

/** The content up to its failure. The failure is kept and not thrown, so that the bytes before it count. */
export const untilFailure = (content: AsyncIterable<Uint8Array>) => {
  const received: { size: number; failure?: unknown } = { size: 0 }
  async function* chunks(): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const chunk of content) {
        received.size += chunk.length
        yield chunk
      }
    } catch (error) {
      received.failure = error
    }
  }
  return { received, chunks: chunks() }
}

/** Staged contents until they are placed or discarded. Those in memory share `memory` bytes. */
export const createStagedContents = <Content extends { readonly size: number }>(
  memory: number,
  isInMemory: (content: Content) => boolean,
) => {
  const contents = new Map<Staged, Content>()
  let free = memory

  const take = (staged: Staged): Content | undefined => {
    const content = contents.get(staged)
    if (contents.delete(staged) && content && isInMemory(content)) free += content.size
    return content
  }

  return {
    take,

    reserve(bytes: number): boolean {
      if (bytes > free) return false
      free -= bytes
      return true
    },

    keep(
      content: Content,
      discard: () => Promise<void> = async () => {},
      known: Pick<Staged, 'reserved'> = {},
    ): Staged {
      const staged: Staged = {
        ...known,
        size: content.size,
        async discard() {
          if (take(staged)) await discard()
        },
      }
      contents.set(staged, content)
      return staged
    },

    of(staged: Staged): Content {
      const content = contents.get(staged)
      if (!content) throw new Error('This store has not staged these bytes')
      return content
    },
  }
}
