import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Fingerprint } from './plan.ts'

/** The service tells a file by its MD5 up to this size, and beyond it by those of its parts of this size. In bytes. */
const partSize = 8 * 1024 ** 2

const md5 = (bytes: Uint8Array): Buffer => createHash('md5').update(bytes).digest()

/**
 * The forms of a fingerprint: of the whole, of the whole as one part, and, where there are several, of the parts
 * (functions/storage/README.md).
 */
const formsOf = (whole: Buffer, parts: readonly Buffer[]): Fingerprint => {
  const asOnePart = `${md5(whole).toString('hex')}-1`
  const asParts = parts.length > 1 ? [`${md5(Buffer.concat(parts)).toString('hex')}-${parts.length}`] : []
  return [whole.toString('hex'), asOnePart, ...asParts]
}

/** Takes bytes as they come, and tells the fingerprint of all of them. */
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

/** A file that is not larger is read at once, in bytes: a stream takes five times as long to begin and to end. */
const readAtOnce = 256 * 1024

/**
 * The fingerprint of a file of this machine, of about that size in bytes. Errors: those of `node:fs`; the reason of the
 * signal.
 */
export const fingerprintFile = async (path: string, size: number, signal?: AbortSignal): Promise<Fingerprint> => {
  signal?.throwIfAborted()
  if (size <= readAtOnce) return fingerprintOf(await readFile(path))
  const fingerprint = createFingerprint()
  // The stream is not given the signal: many at once would listen to it, and Node warns of that.
  for await (const chunk of createReadStream(path, { highWaterMark: readAtOnce })) {
    signal?.throwIfAborted()
    fingerprint.add(chunk)
  }
  return fingerprint.finish()
}
