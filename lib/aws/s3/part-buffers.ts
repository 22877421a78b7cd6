import { partLength } from '../../storage/fingerprint.ts'

/** What one upload has borrowed. */
export interface Lending {
  /** A buffer of one part's length, with anything in it. Waits until there is room: whoever waits reads nothing meanwhile. */
  take(): Promise<Buffer>
  /** Gives a buffer back when what is done with it has ended. When that has failed, it is not lent again: a call may still be sending from it. */
  use<Result>(buffer: Buffer, work: () => Promise<Result>): Promise<Result>
}

/** Room for the parts of all uploads of a process. */
export interface PartBuffers {
  /**
   * Runs an upload, at whose end all that it has borrowed is back. It must not wait for a buffer while it keeps one that it has filled:
   * each filled one is in use.
   */
  lend<Result>(upload: (lending: Lending) => Promise<Result>): Promise<Result>
}

/**
 * How many parts are in memory at once. With the small files that wait there for the rest of their request (32 MiB) they have 192 MiB, whatever
 * comes. Each request of an environment of 16 has one part to fill, and some are left to be on their way.
 */
const mostParts = 20

/** Buffers are lent in the order in which they were asked for, and kept for the next upload. */
export const createPartBuffers = (most = mostParts): PartBuffers => {
  const idle: Buffer[] = []
  const waiting: (() => void)[] = []
  let free = most

  const enter = async (): Promise<void> => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
  }
  const leave = () => {
    const next = waiting.shift()
    if (next) next()
    else free += 1
  }

  return {
    async lend(upload) {
      const lent = new Set<Buffer>()
      const takeBack = (buffer: Buffer): void => {
        if (lent.delete(buffer)) leave()
      }
      try {
        return await upload({
          async take() {
            await enter()
            const buffer = idle.pop() ?? Buffer.allocUnsafeSlow(partLength)
            lent.add(buffer)
            return buffer
          },
          async use(buffer, work) {
            try {
              const result = await work()
              idle.push(buffer)
              return result
            } finally {
              takeBack(buffer)
            }
          },
        })
      } finally {
        for (const buffer of lent) takeBack(buffer)
      }
    },
  }
}

/** A part of some content. */
export interface Part {
  readonly bytes: Buffer
  /** What its bytes stand in, to be given back when they have been used. */
  readonly buffer: Buffer
  readonly isLast: boolean
}

/** Cuts content into parts as it comes; the last one may be shorter, and there is at least one. */
export async function* inParts(content: AsyncIterable<Uint8Array>, lending: Lending): AsyncGenerator<Part, void> {
  let buffer = await lending.take()
  let length = 0
  for await (const chunk of content) {
    let rest = chunk
    // A part that is full is the last one until more comes.
    while (length + rest.length > partLength) {
      const taken = partLength - length
      buffer.set(rest.subarray(0, taken), length)
      yield { bytes: buffer, buffer, isLast: false }
      buffer = await lending.take()
      length = 0
      rest = rest.subarray(taken)
    }
    buffer.set(rest, length)
    length += rest.length
  }
  yield { bytes: buffer.subarray(0, length), buffer, isLast: true }
}
