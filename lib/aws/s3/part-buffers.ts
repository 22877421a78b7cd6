import { partLength } from '../../storage/fingerprint.ts'

/** The buffers of one upload. */
export interface Lending {
  // A buffer of one part's length, with any content. Waits until there is room.
  take(): Promise<Buffer>
  // Returns the buffer after the work. After a failure it is not lent again: a call may still be sending from it.
  use<Result>(buffer: Buffer, work: () => Promise<Result>): Promise<Result>
}

/** Room for the parts of all uploads of a process. */
export interface PartBuffers {
  // Runs an upload and takes back its buffers. It must not wait for a buffer while it keeps a filled one.
  lend<Result>(upload: (lending: Lending) => Promise<Result>): Promise<Result>
}

// With the small files in memory (32 MiB) they take 192 MiB. Each of the 16 requests of an environment has one to fill,
// and four are on their way.
const mostParts = 20

/** Lends buffers first come, first served, and keeps them for the next upload. */
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

export interface Part {
  readonly bytes: Buffer
  // The buffer with the bytes.
  readonly buffer: Buffer
  readonly isLast: boolean
}

/** Cuts content into one or more parts; the last one may be shorter. */
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
