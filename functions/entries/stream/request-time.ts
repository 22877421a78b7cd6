import type { IncomingMessage } from 'node:http'
import { streaming } from '../../../lib/config/streaming.ts'
import type { RemainingTime } from '../../../lib/core/deadline.ts'

// The time that an answer needs to reach the distribution, in milliseconds.
const transferTime = 2_000

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/**
 * While its body arrives, a request has the whole time of Lambda. After the body, it has the time that the distribution
 * waits for an answer: a later change would take effect after an error was sent. `now` is a monotonic clock, in
 * milliseconds.
 */
export const createTimeFor =
  (now: () => number) =>
  (message: IncomingMessage): RemainingTime => {
    const end = now() + streaming.longestRequest * 1000
    const endOfWait = () => now() + streaming.longestWait * 1000
    let answerDue = hasBody(message) ? end : endOfWait()
    message.once('end', () => {
      answerDue = endOfWait()
    })
    return () => Math.min(end, answerDue) - transferTime - now()
  }
