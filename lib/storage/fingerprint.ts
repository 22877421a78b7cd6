import { createHash, hash } from 'node:crypto'

/** In bytes. A file larger than this has several parts in S3 and in its fingerprint (S-82, S-83). */
export const partLength = 8 * 1024 * 1024

export const createFingerprint = () => {
  const whole: Buffer[] = []
  let part = createHash('md5')
  let length = 0

  const startPart = (): void => {
    whole.push(part.digest())
    part = createHash('md5')
    length = 0
  }

  return {
    update(chunk: Uint8Array): void {
      for (let rest = chunk; rest.length > 0; ) {
        if (length === partLength) startPart()
        const taken = rest.subarray(0, partLength - length)
        part.update(taken)
        length += taken.length
        rest = rest.subarray(taken.length)
      }
    },

    digest(): string {
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
