import type { IncomingMessage, Server } from 'node:http'
import { streaming } from '../../../lib/config/functions.ts'
import { fieldsRoutes } from '../../../lib/contract/routes/fields.ts'
import { createDeadline, type Deadline, systemClock } from '../../../lib/core/time.ts'
import { createHandler } from '../../../lib/http/handler.ts'
import { createSecretCheck, hasBody } from '../../../lib/http/request.ts'
import { createStorageDeps } from '../../../lib/service/deps.ts'
import { createServer } from '../../../server/server.ts'
import { getHealth } from '../../fields/service.ts'
import { createStorageHandler } from '../../storage/group.ts'

const transferTime = 2_000

/**
 * Until its body has arrived, a request may take the whole time that Lambda allows. After the body, it has as long as
 * the distribution waits for an answer: a change after this time would take effect although the caller got an error.
 * `now` is a monotonic clock, in milliseconds.
 */
export const createDeadlineFor =
  (now: () => number) =>
  (message: IncomingMessage): Deadline => {
    const end = now() + streaming.longestRequest * 1000
    const endOfWait = () => now() + streaming.longestWait * 1000
    let answerDue = hasBody(message) ? end : endOfWait()
    message.once('end', () => {
      answerDue = endOfWait()
    })
    return createDeadline(() => Math.min(end, answerDue) - transferTime - now())
  }

const slowestBody = { bytesPerSecond: 16 * 1024, seconds: 10 }

const formOverhead = 16 * 1024 * 1024

type Parts = Parameters<typeof createStorageDeps>

export const createStreamServer = (
  settings: Parts[0] & { readonly originSecrets: readonly string[] },
  stores: Parts[1],
  surroundings: Omit<Parts[2], 'downloads' | 'lease'>,
): Server => {
  const { clock = systemClock } = surroundings
  const deps = createStorageDeps(settings, stores, surroundings)
  const storage = createStorageHandler(deps)
  const isSecret = createSecretCheck(settings.originSecrets)
  // Answers whether this process works. The distribution sends the service's `/health` to another function.
  const health = createHandler('fields', [fieldsRoutes[0]], { getHealth }, deps)
  const server = createServer((path) => (path === '/health' ? health : storage), {
    // Anybody can reach the function at its own address, so requests must carry a secret of the distribution.
    admits: ({ headers }) => isSecret(headers[streaming.secretHeader]),
    deadlineFor: createDeadlineFor(clock.monotonic),
    // Lambda sends the whole request before it reads the answer. So the body of a refused request is read too, up to the
    // size of the largest file; a connection that sends more is closed. A process answers few requests at once, so
    // callers without a valid token and slow senders get less time and fewer bytes (S-131, S-114).
    earlyAnswers: {
      bytes: settings.largestFile + formOverhead,
      ms: streaming.longestRequest * 1000,
      waitForBody: true,
      strangers: { bytes: 1024 * 1024, ms: slowestBody.seconds * 1000 },
    },
    slowestBody,
  })
  server.keepAliveTimeout = 120_000
  return server
}
