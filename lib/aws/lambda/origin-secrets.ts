import { hash, timingSafeEqual } from 'node:crypto'

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')

/** Several secrets may count, so that they can be changed without a gap. */
export const createSecretCheck = (secrets: readonly string[]): ((given: unknown) => boolean) => {
  const digests = secrets.map(digest)
  return (given) => {
    if (typeof given !== 'string') return false
    const received = digest(given)
    return digests.some((expected) => timingSafeEqual(expected, received))
  }
}
