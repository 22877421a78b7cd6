import type { Server } from 'node:http'
import type { StreamSettings } from '../../../lib/config/config.ts'
import { streaming } from '../../../lib/config/streaming.ts'
import { fieldsRoutes } from '../../../lib/contract/routes/fields.ts'
import { systemClock } from '../../../lib/core/clock.ts'
import { createHandler } from '../../../lib/http/handler.ts'
import type { Handler } from '../../../lib/http/request.ts'
import { createStorageDeps, type StorageDeps } from '../../../lib/service/deps.ts'
import { createServer } from '../../../server/create-server.ts'
import type { EarlyAnswers } from '../../../server/send-answer.ts'
import { getHealth } from '../../fields/service.ts'
import { createStorageHandler } from '../../storage/group.ts'
import { comesFromDistribution } from './origin.ts'
import { createTimeFor } from './request-time.ts'

/** What comes with a file in a request: the rest of a form. In bytes. */
const besideFile = 16 * 1024 * 1024

/**
 * Lambda hands a request over as a whole before it reads a byte of the answer: one that comes early waits until the body is there. The bytes of
 * a file that is refused are read, and no more of them than any file has; a connection that brings more is cut.
 */
const behindTheBody = (largestFile: number): EarlyAnswers => ({
  bytes: largestFile + besideFile,
  ms: streaming.longestRequest * 1000,
  comeLast: true,
})

/** Says that this very process answers, which `/health` of the service does not: the distribution sends that elsewhere. */
const healthHandler = ({ edge }: StorageDeps): Handler => {
  const [health] = fieldsRoutes
  return createHandler('fields', [health], { getHealth }, edge)
}

/** How long a connection may be idle between two requests, in milliseconds: it is not for this end to close one that Lambda may just be about to use. */
const longestIdle = 120_000

type Parts = Parameters<typeof createStorageDeps>

/** The server of `npm start` over the operations on files, for requests that come through a distribution. It does not listen yet. */
export const createStreamServer = (
  settings: Pick<StreamSettings, 'originSecrets'> & Parts[0],
  stores: Parts[1],
  surroundings: Omit<Parts[2], 'downloads' | 'lease'>,
): Server => {
  const { clock = systemClock } = surroundings
  const deps = createStorageDeps(settings, stores, surroundings)
  const storage = createStorageHandler(deps)
  const health = healthHandler(deps)
  const server = createServer((path) => (path === '/health' ? health : storage), {
    admits: comesFromDistribution(settings.originSecrets),
    timeFor: createTimeFor(clock.monotonic),
    earlyAnswers: behindTheBody(settings.largestFile),
  })
  server.keepAliveTimeout = longestIdle
  return server
}
