import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Fingerprint } from './plan.ts'

/**
 * In bytes. The fingerprint of a file up to this size is its MD5. The fingerprint of a larger file is made from the
 * MD5s of parts of this size.
 */
const partSize = 8 * 1024 ** 2

const md5 = (bytes: Uint8Array): Buffer => createHash('md5').update(bytes).digest()

/**
 * Three fingerprints of the same bytes: their MD5, and the fingerprints that S3 computes for an upload in one part and
 * in several parts (functions/storage/README.md).
 */
const formsOf = (whole: Buffer, parts: readonly Buffer[]): Fingerprint => {
  const asOnePart = `${md5(whole).toString('hex')}-1`
  const asParts = parts.length > 1 ? [`${md5(Buffer.concat(parts)).toString('hex')}-${parts.length}`] : []
  return [whole.toString('hex'), asOnePart, ...asParts]
}

export const createFingerprint = () => {
  const whole = createHash('md5')
  let part = createHash('md5')
  let inPart = 0
  const parts: Buffer[] = []
  const endPart = () => {
    parts.push(part.digest())
    part = createHash('md5')
    inPart = 0
  }
  return {
    add(bytes: Uint8Array): void {
      whole.update(bytes)
      for (let from = 0; from < bytes.length; ) {
        const piece = bytes.subarray(from, from + partSize - inPart)
        part.update(piece)
        inPart += piece.length
        from += piece.length
        if (inPart === partSize) endPart()
      }
    },
    finish(): Fingerprint {
      if (inPart > 0) endPart()
      return formsOf(whole.digest(), parts)
    },
  }
}

export const fingerprintOf = (bytes: Uint8Array): Fingerprint => {
  if (bytes.length <= partSize) return formsOf(md5(bytes), [])
  const fingerprint = createFingerprint()
  fingerprint.add(bytes)
  return fingerprint.finish()
}

/** In bytes. Smaller files are read in one call, because a stream takes five times as long to start and end. */
const readAtOnce = 256 * 1024

export const fingerprintFile = async (path: string, size: number, signal?: AbortSignal): Promise<Fingerprint> => {
  signal?.throwIfAborted()
  if (size <= readAtOnce) return fingerprintOf(await readFile(path))
  const fingerprint = createFingerprint()
  // The signal is not passed on, because Node would warn about many listeners.
  for await (const chunk of createReadStream(path, { highWaterMark: readAtOnce })) {
    signal?.throwIfAborted()
    fingerprint.add(chunk)
  }
  return fingerprint.finish()
}
