import type { IncomingMessage } from 'node:http'
import { streaming } from '../../../lib/config/streaming.ts'
import type { RemainingTime } from '../../../lib/core/remaining-time.ts'

/** What an answer has left for its way to the distribution, in milliseconds. */
const wayBack = 2_000

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/**
 * The time of a request. While its body comes, it has all that Lambda leaves to a request; from then on the distribution waits for its answer, and
 * what was put in place later would land behind the distribution's own. `now` is the monotonic clock, in milliseconds.
 */
export const createTimeFor =
  (now: () => number) =>
  (message: IncomingMessage): RemainingTime => {
    const end = now() + streaming.longestRequest * 1000
    const answered = () => now() + streaming.longestWait * 1000
    let waitedFor = hasBody(message) ? end : answered()
    message.once('end', () => {
      waitedFor = answered()
    })
    return () => Math.min(end, waitedFor) - wayBack - now()
  }
