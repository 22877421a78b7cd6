import { once } from 'node:events'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { createTurns } from '../../core/in-parallel.ts'
import { isMissing, reasonOf } from '../../core/system-failures.ts'
import { createFingerprint } from '../../storage/content.ts'

export interface BlobContent {
  readonly size: number
  readonly fingerprint: string | null
}

export const bytesDiffer = 'its bytes differ from those that were stored'

export const notFile = 'it is not a file'

export const unreadable = 'it cannot be read: '

export const faultOfSize = (size: number, found: number): string => `it has ${found} bytes instead of ${size}`

const pieceSize = 1024 * 1024

const fingerprintOf = (file: number, size: number): string => {
  const making = createFingerprint()
  const buffer = Buffer.allocUnsafeSlow(Math.min(pieceSize, size))
  for (;;) {
    const length = readSync(file, buffer, 0, buffer.length, null)
    if (length === 0) return making.digest()
    making.update(buffer.subarray(0, length))
  }
}

/**
 * The fault of a blob. Undefined if the blob has no fault, or if its fingerprint is unknown. Reads the whole blob while
 * the rest of the process waits.
 */
export const faultOfBlob = (path: string, { size, fingerprint }: BlobContent): string | undefined => {
  try {
    using opened = new DisposableStack()
    // Opening a pipe would wait for a writer, so the type of the file is checked first.
    const file = opened.adopt(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), closeSync)
    const found = fstatSync(file)
    if (!found.isFile()) return notFile
    if (found.size !== size) return faultOfSize(size, found.size)
    return fingerprint === null || fingerprintOf(file, size) === fingerprint ? undefined : bytesDiffer
  } catch (error) {
    return isMissing(error) ? 'it is missing' : `${unreadable}${reasonOf(error)}`
  }
}

// In bytes: up to this sum, blobs are verified in this thread, because starting threads takes some time.
const bytesWithoutThreads = 32 * 1024 * 1024
const mostThreads = 4

const threadFile = new URL(`./verify-blobs-thread${extname(import.meta.url)}`, import.meta.url)

/** Verifies blobs on all cores, because computing a fingerprint takes longer than reading the bytes. */
export const openBlobVerifier = (withoutThreads = bytesWithoutThreads) => {
  const inTurn = createTurns({ atOnce: Math.min(availableParallelism(), mostThreads) })
  const threads = new AsyncDisposableStack()
  const idle: Worker[] = []
  let left = withoutThreads

  const verifyInThread = async (...given: Parameters<typeof faultOfBlob>): Promise<string | undefined> => {
    const thread =
      idle.pop() ?? threads.adopt(new Worker(threadFile), async (worker) => void (await worker.terminate()))
    thread.postMessage(given)
    const [fault] = await once(thread, 'message')
    idle.push(thread)
    return fault
  }

  return {
    async faultOf(path: string, content: BlobContent): Promise<string | undefined> {
      left -= content.fingerprint === null ? 0 : content.size
      if (left >= 0 || content.fingerprint === null) return faultOfBlob(path, content)
      return inTurn(() => verifyInThread(path, content))
    },

    [Symbol.asyncDispose]: () => threads.disposeAsync(),
  }
}

export type BlobVerifier = ReturnType<typeof openBlobVerifier>
