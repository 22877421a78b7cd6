import { createHash, hash } from 'node:crypto'

/**
 * The length of a part in bytes. What is longer comes to S3 in several of them; only then does its fingerprint tell of parts (decisions.md,
 * section 5, "fingerprint").
 */
export const partLength = 8 * 1024 * 1024

/** Makes the fingerprint of bytes as they pass. */
export interface FingerprintMaker {
  update(chunk: Uint8Array): void
  /** To be called once, at the end. */
  digest(): string
}

/**
 * What a fingerprint is made with: up to one part, the hex MD5 of the bytes; beyond that, the hex MD5 of the MD5s of the parts, `-` and their
 * number. S3 forms it by itself; other stores do it here.
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
