import { hash, timingSafeEqual } from 'node:crypto'

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')

/** Accepts several secrets, so that requests succeed while the secret changes. */
export const createSecretCheck = (secrets: readonly string[]): ((given: unknown) => boolean) => {
  const digests = secrets.map(digest)
  return (given) => {
    if (typeof given !== 'string') return false
    const received = digest(given)
    return digests.some((expected) => timingSafeEqual(expected, received))
  }
}
