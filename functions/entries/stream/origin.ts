import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { streaming } from '../../../lib/config/streaming.ts'

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')

/**
 * Whether a request comes from the distribution: the address of the function is open to everybody, and nothing stands in front of it there. Any
 * of the secrets counts, so that a new one can be known here before it is sent.
 */
export const comesFromDistribution = (secrets: readonly string[]): ((message: IncomingMessage) => boolean) => {
  const digests = secrets.map(digest)
  return ({ headers }) => {
    const shown = headers[streaming.secretHeader]
    if (typeof shown !== 'string') return false
    const own = digest(shown)
    return digests.some((one) => timingSafeEqual(one, own))
  }
}
