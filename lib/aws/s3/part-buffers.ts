import { partLength } from '../../storage/content.ts'

// Buffers and the small files in memory (32 MiB) take at most 192 MiB: each of the 16 requests of an environment fills
// one buffer, and four buffers are being sent.
const mostParts = 20

export const createPartBuffers = (most = mostParts) => {
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
    /** The buffers of one upload. An upload must not wait for a second buffer while it keeps a filled one. */
    open() {
      const lent = new Set<Buffer>()
      let hasFailed = false
      const giveBack = (buffer: Buffer): void => {
        if (!lent.delete(buffer)) return
        idle.push(buffer)
        leave()
      }
      return {
        async take(): Promise<Buffer> {
          await enter()
          if (hasFailed) {
            leave()
            throw new Error('No buffer for an upload whose part was not sent')
          }
          const buffer = idle.pop() ?? Buffer.allocUnsafeSlow(partLength)
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
            if (lent.delete(buffer)) leave()
            throw error
          }
        },
        [Symbol.dispose](): void {
          for (const _ of lent) leave()
        },
      }
    },
  }
}

export type PartBuffers = ReturnType<typeof createPartBuffers>
export type Lending = ReturnType<PartBuffers['open']>

export interface Part {
  readonly bytes: Buffer
  readonly buffer: Buffer
  readonly isLast: boolean
}

export async function* inParts(content: AsyncIterable<Uint8Array>, lending: Lending): AsyncGenerator<Part, void> {
  let buffer = await lending.take()
  let length = 0
  for await (const chunk of content) {
    let rest = chunk
    // A full part is treated as the last one until more bytes arrive.
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
