import { write, writeSync } from 'node:fs'

/** Lines for standard error, written behind the back of whoever has something to say: a request does not wait for them. */
export interface LogLines {
  write(line: string): void
  /** Writes what is waiting, at once. To be called before the process ends. */
  flush(): void
}

/** How long a line may wait for others, in milliseconds. */
const delay = 50
/** What may wait when nobody reads; what is said beyond it is lost, and counted. In characters. */
const mostWaiting = 4 * 1024 * 1024

/** Writes lines to a file descriptor, several in one go, and one write at a time. */
export const createLogLines = (descriptor: number): LogLines => {
  let waiting: string[] = []
  let length = 0
  let lost = 0
  let isWriting = false
  let timer: NodeJS.Timeout | undefined

  const take = (): Buffer => {
    const lines = lost > 0 ? [...waiting, `${lost} lines of the log were lost: nobody read them.\n`] : waiting
    waiting = []
    length = 0
    lost = 0
    return Buffer.from(lines.join(''))
  }

  const writeAll = (bytes: Buffer): void => {
    if (bytes.length === 0) {
      isWriting = false
      if (waiting.length > 0) schedule()
      return
    }
    write(descriptor, bytes, (error, written) => {
      // Nobody may be there to read, or there is no room for it: the service goes on without its log.
      if (error && 'code' in error && error.code !== 'EAGAIN') writeAll(Buffer.alloc(0))
      else if (error) setTimeout(() => writeAll(bytes), delay).unref()
      else writeAll(bytes.subarray(written))
    })
  }

  const schedule = () => {
    if (isWriting || timer) return
    timer = setTimeout(() => {
      timer = undefined
      isWriting = true
      writeAll(take())
    }, delay)
    timer.unref()
  }

  return {
    write(line) {
      if (length > mostWaiting) {
        lost += 1
        return
      }
      waiting.push(`${line}\n`)
      length += line.length + 1
      schedule()
    },
    flush() {
      try {
        const bytes = take()
        if (bytes.length > 0) writeSync(descriptor, bytes)
      } catch {
        // As above.
      }
    },
  }
}
