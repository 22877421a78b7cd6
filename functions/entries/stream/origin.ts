import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { streaming } from '../../../lib/config/streaming.ts'

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')

// The function's own address is public. Several secrets may count, so that they can be changed without a gap.
export const comesFromDistribution = (secrets: readonly string[]): ((message: IncomingMessage) => boolean) => {
  const digests = secrets.map(digest)
  return ({ headers }) => {
    const secret = headers[streaming.secretHeader]
    if (typeof secret !== 'string') return false
    const received = digest(secret)
    return digests.some((expected) => timingSafeEqual(expected, received))
  }
}
