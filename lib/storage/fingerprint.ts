import { createHash, hash } from 'node:crypto'

/**
 * The length of a part in bytes. What is longer comes to S3 in several of them; only then does its fingerprint tell of
 * parts (S-82, S-83).
 */
export const partLength = 8 * 1024 * 1024

/** Makes the fingerprint of bytes as they pass. */
export interface FingerprintMaker {
  update(chunk: Uint8Array): void
  digest(): string
}

/**
 * Up to one part: the hex MD5 of the bytes. Above it: the hex MD5 of the MD5s of the parts, `-` and their number (S-82,
 * S-83). S3 computes it itself.
 */
export const createFingerprint = (): FingerprintMaker => {
  const whole: Buffer[] = []
  let part = createHash('md5')
  let length = 0

  const startPart = (): void => {
    whole.push(part.digest())
    part = createHash('md5')
    length = 0
  }

  return {
    update(chunk) {
      for (let rest = chunk; rest.length > 0; ) {
        if (length === partLength) startPart()
        const taken = rest.subarray(0, partLength - length)
        part.update(taken)
        length += taken.length
        rest = rest.subarray(taken.length)
      }
    },

    digest() {
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
