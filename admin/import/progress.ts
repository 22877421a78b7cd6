import { clearLine, cursorTo } from 'node:readline'
import type { WriteStream } from 'node:tty'

const width = 30
/** Often enough to be seen moving, in milliseconds. */
const interval = 100

const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`

/** A bar for a share of a known size, else what has been read. */
export const progressLine = (read: number, size: number | undefined): string => {
  if (!size) return `${mebibytes(read)} read`
  const share = Math.min(1, read / size)
  const done = Math.floor(share * width)
  return `[${'#'.repeat(done)}${'-'.repeat(width - done)}] ${Math.floor(share * 100)} % of ${mebibytes(size)}`
}

/** Passes texts on, and draws on a terminal how far that has got. `size` is that of the whole in bytes, when it is known. */
export async function* drawProgress(
  chunks: AsyncIterable<string>,
  size: number | undefined,
  terminal: WriteStream,
): AsyncGenerator<string> {
  let read = 0
  let drawnAt = 0
  const wipe = () => {
    cursorTo(terminal, 0)
    clearLine(terminal, 0)
  }
  try {
    for await (const chunk of chunks) {
      read += Buffer.byteLength(chunk)
      if (performance.now() - drawnAt > interval) {
        wipe()
        terminal.write(progressLine(read, size))
        drawnAt = performance.now()
      }
      yield chunk
    }
  } finally {
    wipe()
  }
}
